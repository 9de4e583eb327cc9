// What strategies share to take a step on several batches, and to evaluate one.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "training/cross_entropy.h"
#include "training/data/dataset.h"
#include "training/parameter.h"
#include "training/run/class_counts.h"

namespace rankbox::train {

/// Returns the number of samples in all of them: the divisor of the mean loss over them.
inline double samples_in(std::span<const Batch> batches) {
  std::int64_t samples = 0;
  for (const Batch& batch : batches) samples += batch.size();
  return static_cast<double>(samples);
}

/// Adds sums and counts, without the gradient.
inline void add_to(Loss& total, const Loss& more) {
  total.sum += more.sum;
  total.counted += more.counted;
  total.correct += more.correct;
}

/// Returns the loss of an evaluated batch without its padding, and counts its classes.
inline Loss judged(const Tensor& logits, const Batch& batch, ClassCounts& counts) {
  const std::vector<std::int32_t> labels = batch.labels_without_padding();
  counts.add(logits, labels);
  return cross_entropy(logits, labels);
}

/// The mean of the gradients of several batches, for functions that overwrite gradients.
class GradientMean {
 public:
  GradientMean(std::vector<Parameter*> parameters, std::int64_t count)
      : parameters_(std::move(parameters)), sums_(parameters_.size()), count_(count) {}

  /// Takes the parameters' gradients. Returns whether they were the last ones; then the parameters
  /// have the mean of all, and the next call begins the next mean.
  bool add() {
    if (count_ == 1) return true;
    const bool is_last = ++added_ == count_;
    for (std::size_t k = 0; k < parameters_.size(); ++k) {
      Tensor gradient = std::exchange(gradient_of(*parameters_[k]), {});
      if (sums_[k].empty())
        sums_[k] = std::move(gradient);
      else
        sums_[k] += gradient;
      if (!is_last) continue;
      sums_[k] /= static_cast<float>(count_);
      parameters_[k]->gradient = std::exchange(sums_[k], {});
    }
    if (is_last) added_ = 0;
    return is_last;
  }

 private:
  std::vector<Parameter*> parameters_;
  std::vector<Tensor> sums_;
  std::int64_t count_;
  std::int64_t added_ = 0;
};

}  // namespace rankbox::train
