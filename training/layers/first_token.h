// The vector of every text's first token, which a classifier uses. x [batch, length, width] → y
// [batch, width]; dx is dy there and 0 elsewhere. Saves the length.
#pragma once

#include "training/layer.h"

namespace rankbox {

template <class T>
class FirstTokenOf : public LayerOf<T> {
 public:
  TensorOf<T> forward(TensorOf<T> x, SavedOf<T>& saved) override;
  TensorOf<T> backward(TensorOf<T> dy, SavedOf<T>& saved) override;
};
using FirstToken = FirstTokenOf<float>;

}  // namespace rankbox
