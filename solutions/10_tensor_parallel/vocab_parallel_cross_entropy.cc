#include "parallel/vocab_parallel_cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "compute/for_each_row.h"

namespace rankbox {

void vocab_parallel_cross_entropy(Comm& dist, const Tensor& logits, std::int64_t classes,
                                  std::span<const std::int32_t> labels, Loss& loss) {
  const auto batch = static_cast<std::int64_t>(labels.size());
  const std::int64_t first = classes * dist.rank() / dist.world_size();
  const std::int64_t own = classes * (dist.rank() + 1) / dist.world_size() - first;
  const TensorOf<std::int32_t> label_of = from_host(labels);
  const std::int32_t* const label = label_of.data();
  const float* const x = logits.data();

  // 1. The largest logit of each row, over all ranks.
  Tensor largest{Shape(batch)};
  float* const most = largest.data();
  for_each_row(batch, [=] RANKBOX_PORTABLE(Lanes lanes, std::int64_t row) {
    const float* const from = x + row * own;
    const float mine = lanes.max<float>(own, [=](std::int64_t c) { return from[c]; });
    lanes.each(1, [=](std::int64_t) { most[row] = mine; });
  });
  dist.all_reduce(largest, ReduceOp::MAX);

  // 2. For each row the sum of e^(x - largest), and the label's x - largest, which one rank has.
  Tensor sums(2 * batch);
  float *const sum = sums.data(), *const of_label = sum + batch;
  loss.gradient = Tensor({batch, own});
  float* const gradient = loss.gradient.data();
  for_each_row(batch, [=] RANKBOX_PORTABLE(Lanes lanes, std::int64_t row) {
    const float* const from = x + row * own;
    float* const to = gradient + row * own;
    const auto shifted = [=](std::int64_t c) { return from[c] - most[row]; };
    const float mine =
        lanes.sum<float>(own, [=](std::int64_t c) { return to[c] = std::exp(shifted(c)); });
    const std::int64_t c = label[row] - first;
    const float at_label = c >= 0 && c < own ? shifted(c) : 0.0F;
    lanes.each(1, [=](std::int64_t) {
      sum[row] = mine;
      of_label[row] = at_label;
    });
  });
  dist.all_reduce(sums, ReduceOp::SUM);

  // 3. What every rank concludes from it.
  const std::vector<float> all = to_host(sums);
  loss.sum = 0;
  loss.counted = batch - std::count(labels.begin(), labels.end(), kIgnoredLabel);
  for (std::size_t row = 0; row < labels.size(); ++row) {
    if (labels[row] != kIgnoredLabel) loss.sum += std::log(all[row]) - all[labels.size() + row];
  }
  const auto counted = static_cast<float>(loss.counted);
  for_each(batch, own, [=] RANKBOX_PORTABLE(std::int64_t row, std::int64_t c) {
    const float probability = gradient[row * own + c] / sum[row];
    const float wanted = first + c == label[row] ? 1.0F : 0.0F;
    const bool counts = label[row] != kIgnoredLabel;
    gradient[row * own + c] = counts ? (probability - wanted) / counted : 0.0F;
  });
}

}  // namespace rankbox
