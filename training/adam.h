// Adam (Kingma, Ba 2014): gradient descent with a step size for each element.
//
//   m = β₁ m + (1 - β₁) gradient            mean of the gradient
//   v = β₂ v + (1 - β₂) gradient²           mean of its square
//   value = value - learning_rate · m̂ / (√v̂ + ε)        m̂ = m / (1 - β₁ᵗ), v̂ = v / (1 - β₂ᵗ)
//
// at step t = 1, 2, … Weight decay is decoupled (AdamW): value is first multiplied by
// 1 - learning_rate · weight_decay.
//
// Memory: m and v, twice the parameters.
#pragma once

#include "training/optimizer.h"

namespace rankbox {

struct AdamOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
};

/// Takes step t, counted from 1, in place; m and v start as zeros.
/// Throws InvalidArgument for slices that differ in size or type, or are neither float nor double.
void adam_step(Slice value, Slice gradient, Slice m, Slice v, std::int64_t t,
               const AdamOptions& options);

template <class T>
class AdamOf : public OptimizerOf<T> {
 public:
  explicit AdamOf(std::vector<ParameterOf<T>*> parameters, const AdamOptions& options = {});

  void step() override;
  std::vector<NamedTensorOf<T>*> state() override;

  AdamOptions options;  // may be changed between steps: a schedule

 private:
  std::vector<ParameterOf<T>*> parameters_;
  std::vector<NamedTensorOf<T>> means_;
  std::vector<NamedTensorOf<T>> squares_;
  NamedTensorOf<T> steps_;  // one element: the number of steps taken
};
using Adam = AdamOf<float>;

}  // namespace rankbox
