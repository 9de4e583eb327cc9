#include "training/cross_entropy.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "comm/errors.h"
#include "compute/for_each_row.h"
#include "training/rows.h"

namespace rankbox {
namespace {

void check_logits(const Shape& logits, std::span<const std::int32_t> labels) {
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
  check_logits(logits.shape(), labels);
  const auto batch = static_cast<std::int64_t>(labels.size());
  const std::int64_t classes = logits.shape().extents()[1];
  LossOf<T> loss;
  loss.gradient = TensorOf<T>(logits.shape());
  loss.counted = batch - std::count(labels.begin(), labels.end(), kIgnoredLabel);
  const double scale = 1 / (divisor > 0 ? divisor : static_cast<double>(loss.counted));

  const TensorOf<std::int32_t> label_of = from_host(labels);
  TensorOf<double> results({batch, 2});  // of each row: its loss, and 1 if it is correct
  const std::int32_t* const wanted = label_of.data();
  double* const result = results.data();
  const T* const x = logits.data();
  T* const dx = loss.gradient.data();
  for_each_row(batch, [=] RANKBOX_PORTABLE(Lanes lanes, std::int64_t row) {
    const std::int64_t label = wanted[row];
    const T* const from = x + row * classes;
    T* const to = dx + row * classes;
    double mine = 0, correct = 0;
    if (label == kIgnoredLabel) {
      lanes.each(classes, [=](std::int64_t c) { to[c] = 0; });
    } else {
      // Subtract the largest: e^x cannot overflow, and softmax is the same.
      const double largest = lanes.max<T>(classes, [=](std::int64_t c) { return from[c]; });
      const double sum = lanes.sum<double>(
          classes, [=](std::int64_t c) { return std::exp(double{from[c]} - largest); });
      mine = std::log(sum) - (double{from[label]} - largest);
      const int before =
          lanes.sum<int>(label, [=](std::int64_t c) { return from[c] == from[label] ? 1 : 0; });
      correct = from[label] == largest && before == 0 ? 1 : 0;
      lanes.each(classes, [=](std::int64_t c) {
        const double probability = std::exp(double{from[c]} - largest) / sum;
        to[c] = static_cast<T>((probability - (c == label ? 1 : 0)) * scale);
      });
    }
    lanes.each(1, [=](std::int64_t) {
      result[2 * row] = mine;
      result[2 * row + 1] = correct;
    });
  });
  const std::vector<double> rows = to_host(results);
  for (std::size_t i = 0; i < rows.size(); i += 2) {
    loss.sum += rows[i];
    loss.correct += static_cast<std::int64_t>(rows[i + 1]);
  }
  return loss;
}

template LossOf<float> cross_entropy(const TensorOf<float>&, std::span<const std::int32_t>, double);
template LossOf<double> cross_entropy(const TensorOf<double>&, std::span<const std::int32_t>,
                                      double);

}  // namespace rankbox
