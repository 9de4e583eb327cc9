#include "training/layers/dropout.h"

#include <fmt/format.h>

#include "comm/errors.h"
#include "compute/for_each.h"

namespace rankbox {

template <class T>
DropoutOf<T>::DropoutOf(double rate, Random random) : rate_(rate), random_(random) {
  if (rate >= 0 && rate < 1) return;
  throw InvalidArgument(fmt::format("dropout: the rate is {}, expected 0 or more, below 1", rate));
}

namespace {

template <class T>
void apply(TensorOf<T>& x, double rate, const Random& random, const Pass& pass) {
  if (pass.mode == Mode::kEvaluation || rate == 0 || x.empty()) return;
  const std::int64_t batch = x.shape().extents()[0];
  if (!pass.samples.empty() && static_cast<std::int64_t>(pass.samples.size()) != batch) {
    throw InvalidArgument(fmt::format("dropout: a batch of {}, but the pass names {} samples",
                                      batch, pass.samples.size()));
  }
  const auto factor = static_cast<T>(1 / (1 - rate));
  const Random of_step = random.stream(static_cast<std::uint64_t>(pass.step));
  const std::int64_t elements = x.size() / batch;
  const TensorOf<std::int64_t> numbers = from_host(pass.samples);
  const std::int64_t* const sample_of = numbers.data();  // null: sample i is i
  T* const to = x.data();
  for_each(batch, elements, [=] RANKBOX_PORTABLE(std::int64_t i, std::int64_t e) {
    const std::int64_t sample = sample_of == nullptr ? i : sample_of[i];
    const Random of_sample = of_step.stream(static_cast<std::uint64_t>(sample));
    const bool dropped = of_sample.uniform_at(static_cast<std::uint64_t>(e)) < rate;
    to[i * elements + e] = dropped ? T{0} : to[i * elements + e] * factor;
  });
}

}  // namespace

template <class T>
TensorOf<T> DropoutOf<T>::forward(TensorOf<T> x, SavedOf<T>& saved) {
  apply(x, rate_, random_, saved.pass());
  return x;
}

template <class T>
TensorOf<T> DropoutOf<T>::backward(TensorOf<T> dy, SavedOf<T>& saved) {
  apply(dy, rate_, random_, saved.pass());
  return dy;
}

template class DropoutOf<float>;
template class DropoutOf<double>;

}  // namespace rankbox
