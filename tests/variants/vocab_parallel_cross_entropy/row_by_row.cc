// Row by row, in doubles, but for what travels.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "parallel/vocab_parallel_cross_entropy.h"

namespace rankbox {

void vocab_parallel_cross_entropy(Comm& dist, const Tensor& logits, std::int64_t classes,
                                  std::span<const std::int32_t> labels, Loss& loss) {
  const std::int64_t begin = classes * dist.rank() / dist.world_size();
  const std::int64_t width = classes * (dist.rank() + 1) / dist.world_size() - begin;
  const auto batch = static_cast<std::int64_t>(labels.size());
  const auto row = [&](std::int64_t i) { return logits.data() + i * width; };
  const auto label_of = [&](std::int64_t i) { return labels[static_cast<std::size_t>(i)]; };

  std::vector<float> maxima;
  for (std::int64_t i = 0; i < batch; ++i)
    maxima.push_back(width == 0 ? std::numeric_limits<float>::lowest()
                                : *std::max_element(row(i), row(i) + width));
  Tensor largest = from_host(maxima);
  dist.all_reduce(largest, ReduceOp::MAX);

  Tensor both = zeros(2 * batch);
  for (std::int64_t i = 0; i < batch; ++i) {
    double sum = 0;
    for (std::int64_t c = 0; c < width; ++c)
      sum += std::exp(double{row(i)[c]} - double{largest.data()[i]});
    both.data()[i] = static_cast<float>(sum);
    const std::int64_t mine = label_of(i) - begin;
    if (mine >= 0 && mine < width) both.data()[batch + i] = row(i)[mine] - largest.data()[i];
  }
  dist.all_reduce(both, ReduceOp::SUM);

  loss.sum = 0;
  loss.counted = 0;
  for (const std::int32_t label : labels) loss.counted += label == kIgnoredLabel ? 0 : 1;
  loss.gradient = zeros(logits.shape());
  for (std::int64_t i = 0; i < batch; ++i) {
    if (label_of(i) == kIgnoredLabel) continue;
    loss.sum += std::log(double{both.data()[i]}) - double{both.data()[batch + i]};
    for (std::int64_t c = 0; c < width; ++c) {
      const double softmax =
          std::exp(double{row(i)[c]} - double{largest.data()[i]}) / double{both.data()[i]};
      loss.gradient.data()[i * width + c] = static_cast<float>(
          (softmax - (begin + c == label_of(i) ? 1 : 0)) / static_cast<double>(loss.counted));
    }
  }
}

}  // namespace rankbox
