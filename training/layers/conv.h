// Two-dimensional convolution (cross-correlation, as usual in this field), stride 1, zero padding.
//
//   y[n, i, j, o] = b[o] + Σ over k, l, c of  W[o, k, l, c] · x[n, i + k - P, j + l - P, c]
//
// With P = padding: x [batch, height, width, channels] → y [batch, height', width', filters], with
// height' = height + 2 padding - kernel + 1. W [filters, kernel, kernel, channels], b [filters].
// Channels come last: the elements of a window's line are contiguous, and y needs no reordering.
//
// On the host pixels and filters are multiplied in registers (direct_conv.h). On a GPU the patches
// (im2col.h) are made for some images at a time, and again in backward: only x is saved, which is
// 25 times smaller than its 5 × 5 patches.
//
// Cost: 2 · batch · height' · width' · kernel² · channels · filters operations forward, twice that
// backward. Starts uniform in ±1/√(kernel² channels).
#pragma once

#include "training/layer.h"
#include "training/layers/im2col.h"
#include "training/random.h"

namespace rankbox {

struct ConvOptions {
  std::int64_t channels = 1;
  std::int64_t filters = 1;
  std::int64_t kernel = 5;
  std::int64_t padding = 2;
};

template <class T>
class ConvOf : public LayerOf<T> {
 public:
  ConvOf(const ConvOptions& options, Random random);

  TensorOf<T> forward(TensorOf<T> x, SavedOf<T>& saved) override;
  TensorOf<T> backward(TensorOf<T> dy, SavedOf<T>& saved) override;
  std::vector<ParameterOf<T>*> parameters() override { return {&weight, &bias}; }

  ParameterOf<T> weight;
  ParameterOf<T> bias;

 private:
  ConvShape shape_of(const Shape& x) const;  // throws InvalidArgument

  ConvOptions options_;
};
using Conv = ConvOf<float>;

}  // namespace rankbox
