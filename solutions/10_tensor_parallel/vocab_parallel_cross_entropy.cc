#include "parallel/vocab_parallel_cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rankbox {

void vocab_parallel_cross_entropy(Comm& dist, const Tensor& logits, std::int64_t classes,
                                  std::span<const std::int32_t> labels, Loss& loss) {
  const auto batch = static_cast<std::int64_t>(labels.size());
  const std::int64_t first = classes * dist.rank() / dist.world_size();
  const std::int64_t own = classes * (dist.rank() + 1) / dist.world_size() - first;
  const auto label_of = [&](std::int64_t row) { return labels[static_cast<std::size_t>(row)]; };

  // 1. The largest logit of each row, over all ranks.
  Tensor largest = full(batch, -std::numeric_limits<float>::infinity());
  for (std::int64_t i = 0; i < batch * own; ++i)
    largest.data()[i / own] = std::max(largest.data()[i / own], logits.data()[i]);
  dist.all_reduce(largest, ReduceOp::MAX);

  // 2. For each row the sum of e^(x - largest), and the label's x - largest, which one rank has.
  Tensor sums = zeros(2 * batch);
  float* const of_label = sums.data() + batch;
  loss.gradient = Tensor({batch, own});
  for (std::int64_t i = 0; i < batch * own; ++i) {
    const std::int64_t row = i / own;
    const float x = logits.data()[i] - largest.data()[row];
    loss.gradient.data()[i] = std::exp(x);
    sums.data()[row] += std::exp(x);
    if (first + i % own == label_of(row)) of_label[row] = x;
  }
  dist.all_reduce(sums, ReduceOp::SUM);

  // 3. What every rank concludes from it.
  loss.sum = 0;
  loss.counted = batch - std::count(labels.begin(), labels.end(), kIgnoredLabel);
  for (std::int64_t row = 0; row < batch; ++row) {
    if (label_of(row) != kIgnoredLabel) loss.sum += std::log(sums.data()[row]) - of_label[row];
  }
  for (std::int64_t i = 0; i < batch * own; ++i) {
    const std::int64_t row = i / own;
    const float probability = loss.gradient.data()[i] / sums.data()[row];
    const float wanted = first + i % own == label_of(row) ? 1.0F : 0.0F;
    const bool counts = label_of(row) != kIgnoredLabel;
    loss.gradient.data()[i] =
        counts ? (probability - wanted) / static_cast<float>(loss.counted) : 0.0F;
  }
}

}  // namespace rankbox
