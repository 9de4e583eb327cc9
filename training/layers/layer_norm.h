// Normalizes every row (Ba, Kiros, Hinton 2016):
//
//   y = γ · (x - mean) / √(variance + ε) + β       x [… , width], mean and variance of its row
//
// Rows are independent: neither the batch nor the number of ranks matters. Saves x and two numbers
// per row.
#pragma once

#include "training/layer.h"

namespace rankbox {

template <class T>
class LayerNormOf : public LayerOf<T> {
 public:
  explicit LayerNormOf(std::int64_t width, double epsilon = 1e-5);

  TensorOf<T> forward(TensorOf<T> x, SavedOf<T>& saved) override;
  TensorOf<T> backward(TensorOf<T> dy, SavedOf<T>& saved) override;
  std::vector<ParameterOf<T>*> parameters() override { return {&gamma, &beta}; }

  ParameterOf<T> gamma;
  ParameterOf<T> beta;

 private:
  std::int64_t width_;
  double epsilon_;
};
using LayerNorm = LayerNormOf<float>;

}  // namespace rankbox
