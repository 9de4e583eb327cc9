// The rest of the model is one call: forward, the rest, forward again, back.
#include <map>
#include <utility>

#include "parallel/recompute.h"

namespace rankbox {

namespace {

struct Call {
  Sequential& model;
  const Batch& batch;
  std::int64_t segments;
  Saved& saved;
  Loss& loss;

  Tensor run(std::int64_t begin, std::int64_t end, Tensor x, bool keeps) {
    for (std::int64_t i = begin; i < end; ++i) {
      Saved dropped(saved.pass());
      x = model.layer(i).forward(std::move(x), keeps ? saved : dropped);
    }
    return x;
  }

  /// Takes the output of all segments before s; returns the derivative by it.
  Tensor rest(std::int64_t s, Tensor x) {
    const std::int64_t begin = model.size() * s / segments;
    const std::int64_t end = model.size() * (s + 1) / segments;
    if (begin == end) return rest(s + 1, std::move(x));
    Tensor dy;
    if (s + 1 == segments) {
      loss = cross_entropy(run(begin, end, std::move(x), true), batch.labels);
      dy = std::move(loss.gradient);
      loss.gradient = {};
    } else {
      std::map<NamedTensor*, Tensor> state;
      for (std::int64_t i = begin; i < end; ++i) {
        for (NamedTensor* each : model.layer(i).statistics()) state[each] = clone(each->value);
      }
      dy = rest(s + 1, run(begin, end, clone(x), false));
      for (auto& [each, before] : state) copy(each->value, before);
      run(begin, end, std::move(x), true);
    }
    for (std::int64_t i = end; i-- > begin;) dy = model.layer(i).backward(std::move(dy), saved);
    return dy;
  }
};

}  // namespace

void recompute(Sequential& model, const Batch& batch, int segments, Saved& saved, Loss& loss) {
  Call{model, batch, segments, saved, loss}.rest(0, clone(batch.x));
}

}  // namespace rankbox
