// y = max(x, 0), element by element; dx = dy where x > 0, else 0.
//
// Saves one bit per element: whether x > 0.
#pragma once

#include "training/layer.h"

namespace rankbox {

template <class T>
class ReluOf : public LayerOf<T> {
 public:
  TensorOf<T> forward(TensorOf<T> x, SavedOf<T>& saved) override;
  TensorOf<T> backward(TensorOf<T> dy, SavedOf<T>& saved) override;
};
using Relu = ReluOf<float>;

}  // namespace rankbox
