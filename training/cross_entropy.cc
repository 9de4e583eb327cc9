#include "training/cross_entropy.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "comm/errors.h"
#include "training/rows.h"

namespace rankbox {
namespace {

void check(const Shape& logits, std::span<const std::int32_t> labels) {
  const std::vector<std::int64_t>& extents = logits.extents();
  if (extents.size() != 2 || extents[0] != static_cast<std::int64_t>(labels.size())) {
    throw InvalidArgument(fmt::format("cross_entropy: {} labels for logits of shape {}",
                                      labels.size(), to_string(logits)));
  }
  for (const std::int32_t label : labels) {
    if (label == kIgnoredLabel || (label >= 0 && label < extents[1])) continue;
    throw InvalidArgument(
        fmt::format("cross_entropy: label {} is none of {} classes", label, extents[1]));
  }
}

}  // namespace

template <class T>
LossOf<T> cross_entropy(const TensorOf<T>& logits, std::span<const std::int32_t> labels,
                        double divisor) {
  check(logits.shape(), labels);
  const std::int64_t classes = logits.shape().extents()[1];
  LossOf<T> loss;
  loss.gradient = TensorOf<T>(logits.shape());
  loss.counted = static_cast<std::int64_t>(labels.size()) -
                 std::count(labels.begin(), labels.end(), kIgnoredLabel);
  const double scale = 1 / (divisor > 0 ? divisor : static_cast<double>(loss.counted));

  for (std::size_t row = 0; row < labels.size(); ++row) {
    const T* const x = logits.data() + static_cast<std::int64_t>(row) * classes;
    T* const dx = loss.gradient.data() + static_cast<std::int64_t>(row) * classes;
    const std::int32_t label = labels[row];
    if (label == kIgnoredLabel) {
      std::fill_n(dx, classes, T{0});
      continue;
    }
    // Subtract the largest: e^x cannot overflow, and softmax is the same.
    const T* const largest = std::max_element(x, x + classes);
    double sum = 0;
    for (std::int64_t c = 0; c < classes; ++c) sum += std::exp(double{x[c]} - *largest);
    loss.sum += std::log(sum) - (double{x[label]} - *largest);
    loss.correct += largest - x == label ? 1 : 0;
    for (std::int64_t c = 0; c < classes; ++c) {
      const double probability = std::exp(double{x[c]} - *largest) / sum;
      dx[c] = static_cast<T>((probability - (c == label ? 1 : 0)) * scale);
    }
  }
  return loss;
}

template LossOf<float> cross_entropy(const TensorOf<float>&, std::span<const std::int32_t>, double);
template LossOf<double> cross_entropy(const TensorOf<double>&, std::span<const std::int32_t>,
                                      double);

}  // namespace rankbox
