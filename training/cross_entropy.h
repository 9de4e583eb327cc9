// The loss of a classifier: -log of the probability that softmax gives to the right class.
//
//   const Loss loss = cross_entropy(logits, labels);
//   model.backward(loss.gradient, saved);
//
// Sums and counts are kept separately, because they can be added over batches and ranks, and means
// cannot: the mean of the means is wrong as soon as batches differ in size. Samples labelled
// kIgnoredLabel (padding) are not counted at all.
#pragma once

#include <cstdint>
#include <span>

#include "comm/tensor.h"

namespace rankbox {

inline constexpr std::int32_t kIgnoredLabel = -1;

template <class T>
struct LossOf {
  double sum = 0;            // of the losses of all samples that count
  std::int64_t counted = 0;  // samples
  std::int64_t correct = 0;  // samples whose label has the largest logit
  TensorOf<T> gradient;      // of sum / divisor, by the logits

  double mean() const { return counted == 0 ? 0 : sum / static_cast<double>(counted); }
  double accuracy() const {
    return counted == 0 ? 0 : static_cast<double>(correct) / static_cast<double>(counted);
  }
};
using Loss = LossOf<float>;

/// logits [batch, classes], labels [batch]. The gradient is that of the mean over the samples that
/// count, or of sum / divisor if one is given: micro-batches that add up to one batch all divide by
/// the number of its samples that count.
/// Throws InvalidArgument if there are not as many labels as rows, or a label is not a class.
template <class T>
LossOf<T> cross_entropy(const TensorOf<T>& logits, std::span<const std::int32_t> labels,
                        double divisor = 0);

}  // namespace rankbox
