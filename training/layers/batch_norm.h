// Normalizes every channel over the batch (Ioffe, Szegedy 2015):
//
//   y = γ · (x - mean) / √(variance + ε) + β       per channel, the last extent of x
//
// In training, mean and variance are those of the batch, over all extents but the last, and the
// running statistics move towards them by `momentum` (with the unbiased variance). In evaluation
// the running statistics are used.
//
// On several ranks "the batch" is each rank's own part, unless `combine` adds the ranks' sums. It
// is called with what must be summed over all ranks, once forward (sums of x, sums of x², rows) and
// once backward (sums of dy, sums of dy · x normalized, rows). The sums are doubles, because the
// variance is a small difference of them.
//
// Backward: dγ and dβ are sums over this rank's rows. Saves x, mean and 1/√(variance + ε).
#pragma once

#include <functional>

#include "training/layer.h"

namespace rankbox {

struct BatchNormOptions {
  double epsilon = 1e-5;
  double momentum = 0.1;
};

template <class T>
class BatchNormOf : public LayerOf<T> {
 public:
  explicit BatchNormOf(std::int64_t channels, const BatchNormOptions& options = {});

  TensorOf<T> forward(TensorOf<T> x, SavedOf<T>& saved) override;
  TensorOf<T> backward(TensorOf<T> dy, SavedOf<T>& saved) override;
  std::vector<ParameterOf<T>*> parameters() override { return {&gamma, &beta}; }
  std::vector<NamedTensorOf<T>*> statistics() override { return {&running_mean, &running_var}; }

  ParameterOf<T> gamma;
  ParameterOf<T> beta;
  NamedTensorOf<T> running_mean;
  NamedTensorOf<T> running_var;

  /// Takes 2 · channels + 1 elements. If empty, only this rank's sums count.
  std::function<void(TensorOf<double>& sums)> combine;

 private:
  std::int64_t channels_;
  BatchNormOptions options_;
};
using BatchNorm = BatchNormOf<float>;

}  // namespace rankbox
