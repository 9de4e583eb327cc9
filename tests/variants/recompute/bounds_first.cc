// First the bounds of all segments, then two loops. What a segment saves in its first forward lies
// there until the segment is done, and each second forward has a Saved that ends with it.
#include <utility>
#include <vector>

#include "parallel/recompute.h"

namespace rankbox {

void recompute(Sequential& model, const Batch& batch, int segments, Saved& saved, Loss& loss) {
  const std::int64_t layers = model.size();
  std::vector<std::int64_t> bounds = {0};
  for (std::int64_t s = 1; s <= segments; ++s) {
    if (layers * s / segments > bounds.back()) bounds.push_back(layers * s / segments);
  }
  const std::size_t last = bounds.size() - 2;
  std::vector<Tensor> inputs;
  std::vector<Tensor> states;

  Tensor x = clone(batch.x);
  for (std::size_t s = 0; s <= last; ++s) {
    Saved first(saved.pass());
    if (s < last) inputs.push_back(clone(x));
    for (std::int64_t i = bounds[s]; i < bounds[s + 1]; ++i) {
      for (const NamedTensor* each : model.layer(i).statistics())
        states.push_back(clone(each->value));
      x = model.layer(i).forward(std::move(x), s < last ? first : saved);
    }
  }
  loss = cross_entropy(x, batch.labels);
  Tensor dy = std::exchange(loss.gradient, {});

  std::size_t put_back = states.size();
  for (std::size_t s = last + 1; s-- > 0;) {
    for (std::int64_t i = bounds[s + 1]; i-- > bounds[s];) {
      const std::vector<NamedTensor*> statistics = model.layer(i).statistics();
      put_back -= statistics.size();
      if (s == last) continue;
      for (std::size_t k = 0; k < statistics.size(); ++k)
        copy(statistics[k]->value, states[put_back + k]);
    }
    Saved again(saved.pass());
    Saved& used = s == last ? saved : again;
    if (s < last) {
      Tensor y = std::exchange(inputs[s], {});
      for (std::int64_t i = bounds[s]; i < bounds[s + 1]; ++i)
        y = model.layer(i).forward(std::move(y), used);
    }
    for (std::int64_t i = bounds[s + 1]; i-- > bounds[s];)
      dy = model.layer(i).backward(std::move(dy), used);
  }
}

}  // namespace rankbox
