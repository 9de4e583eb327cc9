// Gradient descent with momentum and weight decay:
//
//   velocity = momentum · velocity + gradient + weight_decay · value
//   value = value - learning_rate · velocity
//
// Memory: the velocity, as large as the parameters (none without momentum).
#pragma once

#include "training/optimizer.h"

namespace rankbox {

struct SgdOptions {
  double learning_rate = 0.1;
  double momentum = 0.9;
  double weight_decay = 0;
};

/// One step, in place. velocity starts as zeros; without momentum it may be empty.
/// Throws InvalidArgument for slices that differ in size or type, or are neither float nor double.
void sgd_step(Slice value, Slice gradient, Slice velocity, const SgdOptions& options);

template <class T>
class SgdOf : public OptimizerOf<T> {
 public:
  explicit SgdOf(std::vector<ParameterOf<T>*> parameters, const SgdOptions& options = {});

  void step() override;
  std::vector<NamedTensorOf<T>*> state() override;

  SgdOptions options;  // may be changed between steps: a schedule

 private:
  std::vector<ParameterOf<T>*> parameters_;
  std::vector<NamedTensorOf<T>> velocities_;
};
using Sgd = SgdOf<float>;

}  // namespace rankbox
