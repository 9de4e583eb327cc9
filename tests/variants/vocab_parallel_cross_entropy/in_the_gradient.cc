// The logits are copied to the gradient, and everything happens there.
#include <algorithm>
#include <cmath>
#include <limits>

#include "parallel/vocab_parallel_cross_entropy.h"

namespace rankbox {

void vocab_parallel_cross_entropy(Comm& dist, const Tensor& logits, std::int64_t classes,
                                  std::span<const std::int32_t> labels, Loss& loss) {
  const auto batch = static_cast<std::int64_t>(labels.size());
  const std::int64_t own = batch == 0 ? 0 : logits.size() / batch;
  const std::int64_t first = classes * dist.rank() / dist.world_size();
  loss.gradient = clone(logits);
  Tensor largest = full(batch, std::numeric_limits<float>::lowest());
  Tensor sums = zeros(2 * batch);
  const auto each = [&](auto fn) {  // fn(element, row, whether it is the label's)
    for (std::int64_t i = 0; i < batch * own; ++i) {
      const std::int64_t row = i / own;
      fn(loss.gradient.data()[i], row, first + i % own == labels[static_cast<std::size_t>(row)]);
    }
  };
  each([&](float& x, std::int64_t row, bool) {
    largest.data()[row] = std::max(largest.data()[row], x);
  });
  Request maximum = dist.all_reduce_async(largest, ReduceOp::MAX);
  dist.wait(maximum);
  each([&](float& x, std::int64_t row, bool is_label) {
    x -= largest.data()[row];
    if (is_label) sums.data()[batch + row] = x;
    x = std::exp(x);
    sums.data()[row] += x;
  });
  dist.all_reduce(sums, ReduceOp::SUM);

  loss.sum = 0;
  loss.counted = 0;
  for (std::int64_t row = 0; row < batch; ++row) {
    if (labels[static_cast<std::size_t>(row)] == kIgnoredLabel) continue;
    ++loss.counted;
    loss.sum += std::log(sums.data()[row]) - sums.data()[batch + row];
  }
  each([&](float& x, std::int64_t row, bool is_label) {
    const bool ignored = labels[static_cast<std::size_t>(row)] == kIgnoredLabel;
    x = x / sums.data()[row] - (is_label ? 1.0F : 0.0F);
    x = ignored ? 0 : x / static_cast<float>(loss.counted);
  });
}

}  // namespace rankbox
