#include "training/layers/dropout.h"

#include <fmt/format.h>

#include "comm/errors.h"

namespace rankbox {

template <class T>
DropoutOf<T>::DropoutOf(double rate, Random random) : rate_(rate), random_(random) {
  if (rate >= 0 && rate < 1) return;
  throw InvalidArgument(fmt::format("dropout: the rate is {}, expected 0 or more, below 1", rate));
}

template <class T>
void DropoutOf<T>::apply(TensorOf<T>& x, const Pass& pass) const {
  if (pass.mode == Mode::kEvaluation || rate_ == 0 || x.empty()) return;
  const std::int64_t batch = x.shape().extents()[0];
  if (!pass.samples.empty() && static_cast<std::int64_t>(pass.samples.size()) != batch) {
    throw InvalidArgument(fmt::format("dropout: a batch of {}, but the pass names {} samples",
                                      batch, pass.samples.size()));
  }
  const auto factor = static_cast<T>(1 / (1 - rate_));
  const Random of_step = random_.stream(static_cast<std::uint64_t>(pass.step));
  const std::int64_t elements = x.size() / batch;
  for (std::int64_t i = 0; i < batch; ++i) {
    const std::int64_t sample =
        pass.samples.empty() ? i : pass.samples[static_cast<std::size_t>(i)];
    Random of_sample = of_step.stream(static_cast<std::uint64_t>(sample));
    T* const row = x.data() + i * elements;
    for (std::int64_t e = 0; e < elements; ++e)
      row[e] = of_sample.chance(rate_) ? T{0} : row[e] * factor;
  }
}

template <class T>
TensorOf<T> DropoutOf<T>::forward(TensorOf<T> x, SavedOf<T>& saved) {
  apply(x, saved.pass());
  return x;
}

template <class T>
TensorOf<T> DropoutOf<T>::backward(TensorOf<T> dy, SavedOf<T>& saved) {
  apply(dy, saved.pass());
  return dy;
}

template class DropoutOf<float>;
template class DropoutOf<double>;

}  // namespace rankbox
