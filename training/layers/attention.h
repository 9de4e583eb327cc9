// Multi-head self-attention between its two linear layers (Vaswani et al. 2017):
//
//   y = softmax(q kᵀ / √d) v       for every sample and head, q, k, v [length, d]
//
// x [batch, length, heads · 3 · d] → y [batch, length, heads · d]. Head by head, x holds q, k and v
// side by side, so that a contiguous piece of x is whole heads: a rank of a tensor-parallel model
// runs this same layer on its heads. The layer itself has no parameters; a model puts a Linear
// before and after it (see models/text_transformer.cc).
//
// Padding (Pass::lengths) has weight 0. Rows of padding hold finite values that are not used.
//
// Cost: 4 batch·heads·length²·d operations forward, 8 backward. Saves x and the weights
// [batch, heads, length, length].
#pragma once

#include "training/layer.h"

namespace rankbox {

template <class T>
class AttentionOf : public LayerOf<T> {
 public:
  explicit AttentionOf(std::int64_t heads) : heads_(heads) {}

  std::int64_t heads() const { return heads_; }

  TensorOf<T> forward(TensorOf<T> x, SavedOf<T>& saved) override;
  TensorOf<T> backward(TensorOf<T> dy, SavedOf<T>& saved) override;

 private:
  std::int64_t heads_;
};
using Attention = AttentionOf<float>;

}  // namespace rankbox
