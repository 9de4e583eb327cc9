#include "parallel/recompute.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace rankbox {

namespace {

/// Layers [begin, end), and what their second forward needs.
struct Segment {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  Tensor x = {};                    // empty for the first: the batch has it
  std::vector<Tensor> before = {};  // the layers' statistics before the first forward
};

std::vector<NamedTensor*> statistics_of(Sequential& model, const Segment& segment) {
  std::vector<NamedTensor*> all;
  for (std::int64_t i = segment.begin; i < segment.end; ++i) {
    for (NamedTensor* statistic : model.layer(i).statistics()) all.push_back(statistic);
  }
  return all;
}

}  // namespace

void recompute(Sequential& model, const Batch& batch, int segments, Saved& saved, Loss& loss) {
  const std::int64_t layers = model.size();
  std::vector<Segment> kept;  // all but the last
  for (std::int64_t s = 0; s + 1 < segments; ++s) {
    const Segment segment = {layers * s / segments, layers * (s + 1) / segments};
    if (segment.begin < segment.end) kept.push_back(segment);
  }
  const Segment last = {layers * (segments - 1) / segments, layers};

  const auto forward = [&](const Segment& segment, Tensor x) {
    for (std::int64_t i = segment.begin; i < segment.end; ++i)
      x = model.layer(i).forward(std::move(x), saved);
    return x;
  };
  const auto backward = [&](const Segment& segment, Tensor dy) {
    for (std::int64_t i = segment.end; i-- > segment.begin;)
      dy = model.layer(i).backward(std::move(dy), saved);
    return dy;
  };

  // 1. Forward. What a layer saves is dropped at once, except in the last segment.
  Tensor x = clone(batch.x);
  for (Segment& segment : kept) {
    if (segment.begin > 0) segment.x = clone(x);
    for (const NamedTensor* statistic : statistics_of(model, segment))
      segment.before.push_back(clone(statistic->value));
    for (std::int64_t i = segment.begin; i < segment.end; ++i) {
      Saved dropped(saved.pass());
      x = model.layer(i).forward(std::move(x), dropped);
    }
  }
  x = forward(last, std::move(x));
  loss = cross_entropy(x, batch.labels);
  Tensor dy = backward(last, std::exchange(loss.gradient, {}));

  // 2. Each segment forward again, and back.
  for (; !kept.empty(); kept.pop_back()) {
    Segment& segment = kept.back();
    const std::vector<NamedTensor*> statistics = statistics_of(model, segment);
    for (std::size_t k = 0; k < statistics.size(); ++k)
      copy(statistics[k]->value, segment.before[k]);
    forward(segment, segment.begin == 0 ? clone(batch.x) : std::move(segment.x));
    dy = backward(segment, std::move(dy));
  }
}

}  // namespace rankbox
