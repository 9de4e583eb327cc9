#include "training/run/class_counts.h"

#include <optional>

namespace rankbox::train {

void ClassCounts::add(const Tensor& logits, std::span<const std::int32_t> labels) {
  const std::vector<float> rows = to_host(logits);
  const std::size_t width = labels.empty() ? 0 : rows.size() / labels.size();
  const std::size_t classes = counts_.size() / 3;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0) continue;
    std::optional<std::size_t> answer;
    for (std::size_t c = 0; c < width; ++c) {
      const float logit = rows[i * width + c];
      if (answer ? logit > rows[i * width + *answer] : logit == logit) answer = c;
    }
    const auto label = static_cast<std::size_t>(labels[i]);
    if (answer == label) ++counts_[3 * label];
    // A model may have more outputs than the data have classes.
    if (answer && *answer < classes) ++counts_[3 * *answer + 1];
    ++counts_[3 * label + 2];
  }
}

void ClassCounts::add_over_ranks(Comm& dist) {
  auto sums = from_host(counts_);
  dist.all_reduce(sums, ReduceOp::SUM);
  counts_ = to_host(sums);
}

double ClassCounts::f1() const {
  const std::size_t classes = counts_.size() / 3;
  double sum = 0;
  int seen = 0;
  for (std::size_t c = classes == 2 ? 1 : 0; c < classes; ++c) {
    // 2 TP + FP + FN: what was answered and what was labelled.
    const std::int64_t both = counts_[3 * c + 1] + counts_[3 * c + 2];
    if (both == 0) continue;
    sum += 2 * static_cast<double>(counts_[3 * c]) / static_cast<double>(both);
    ++seen;
  }
  return seen == 0 ? 0 : sum / seen;
}

}  // namespace rankbox::train
