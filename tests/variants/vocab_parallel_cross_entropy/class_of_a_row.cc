// A class of a row of logits; the sums of a row lie side by side.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "parallel/vocab_parallel_cross_entropy.h"

namespace rankbox {

namespace {

class Row {
 public:
  Row(const Tensor& logits, std::int64_t row, std::int64_t width)
      : x_(logits.data() + row * width), width_(width) {}

  float largest() const {
    float most = -std::numeric_limits<float>::infinity();
    for (std::int64_t c = 0; c < width_; ++c) most = std::max(most, x_[c]);
    return most;
  }
  float sum(float base) const {
    float all = 0;
    for (std::int64_t c = width_; c-- > 0;) all += std::exp(x_[c] - base);
    return all;
  }
  float operator[](std::int64_t c) const { return x_[c]; }
  bool has(std::int64_t c) const { return c >= 0 && c < width_; }

 private:
  const float* x_;
  std::int64_t width_;
};

}  // namespace

void vocab_parallel_cross_entropy(Comm& dist, const Tensor& logits, std::int64_t classes,
                                  std::span<const std::int32_t> labels, Loss& loss) {
  const std::int64_t first = classes * dist.rank() / dist.world_size();
  const std::int64_t width = classes * (dist.rank() + 1) / dist.world_size() - first;
  std::vector<Row> rows;
  std::vector<float> maxima, pairs;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    rows.emplace_back(logits, static_cast<std::int64_t>(i), width);
    maxima.push_back(rows.back().largest());
  }
  auto largest = from_host(maxima);
  dist.wait(dist.all_reduce_async(largest, ReduceOp::MAX));
  maxima = to_host(largest);

  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int64_t own = labels[i] - first;
    pairs.push_back(rows[i].sum(maxima[i]));
    pairs.push_back(rows[i].has(own) ? rows[i][own] - maxima[i] : 0);
  }
  auto sums = from_host(pairs);
  dist.wait(dist.all_reduce_async(sums));
  pairs = to_host(sums);

  loss.sum = 0;
  loss.counted = std::ranges::count_if(labels, [](int label) { return label != kIgnoredLabel; });
  std::vector<float> gradient;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool counts = labels[i] != kIgnoredLabel;
    if (counts) loss.sum += std::log(pairs[2 * i]) - pairs[2 * i + 1];
    for (std::int64_t c = 0; c < width; ++c) {
      const float wanted = first + c == labels[i] ? 1 : 0;
      const float softmax = std::exp(rows[i][c] - maxima[i]) / pairs[2 * i];
      gradient.push_back(counts ? (softmax - wanted) / static_cast<float>(loss.counted) : 0);
    }
  }
  loss.gradient = from_host(gradient, logits.shape());
}

}  // namespace rankbox
