// y = x Φ(x), with Φ the distribution function of the normal distribution: ReLU with a soft knee
// (Hendrycks, Gimpel 2016), exact, not the tanh approximation. dy/dx = Φ(x) + x φ(x). Saves x.
#pragma once

#include "training/layer.h"

namespace rankbox {

template <class T>
class GeluOf : public LayerOf<T> {
 public:
  TensorOf<T> forward(TensorOf<T> x, SavedOf<T>& saved) override;
  TensorOf<T> backward(TensorOf<T> dy, SavedOf<T>& saved) override;
};
using Gelu = GeluOf<float>;

}  // namespace rankbox
