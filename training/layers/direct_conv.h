// Convolution in host memory, without patches.
//
//   x ──▶ with a border of zeros ──▶ y[pixel, filters] = bias + Σ x[element] · w[element, filters]
//
// A register holds a pixel's sums for several filters, so the filters come last in memory, padded
// to whole registers. Each weight that is loaded serves several pixels, each pixel several filters.
// The border saves the loops from looking for it.
//
// A product of patches and weights would write and read the patches, kernel² times the image, and
// be packed once more by the library (docs/limits.md, "Training", has both times).
//
// Each sum has the order of the window's elements. Thread safety: any number of threads.
#pragma once

#include <cstdint>

#include "comm/tensor.h"
#include "training/layers/im2col.h"

namespace rankbox {

/// Weights and biases in the order of the loops: [patch + 1, filters, padded to whole registers of
/// any CPU]. A row for each element of a patch, then the bias; what is padded is 0.
template <class T>
class FiltersLast {
 public:
  FiltersLast(std::int64_t patch, std::int64_t filters);  // zeros

  T& at(std::int64_t element, std::int64_t filter) {
    return values_.data()[element * row_ + filter];
  }
  std::int64_t patch() const { return patch_; }
  std::int64_t filters() const { return filters_; }
  std::int64_t row() const { return row_; }
  T* data() { return values_.data(); }
  const T* data() const { return values_.data(); }

 private:
  std::int64_t patch_, filters_, row_;
  TensorOf<T> values_;
};

/// Of weights [filters, patch].
template <class T>
FiltersLast<T> filters_last(const TensorOf<T>& weight, const TensorOf<T>& bias);

/// The filters of the convolution that leads from dy to dx: turned by 180 degrees, channels and
/// filters exchanged, without a bias.
template <class T>
FiltersLast<T> turned(const ConvShape& shape, const TensorOf<T>& weight, std::int64_t filters);

/// The shape of that convolution.
ConvShape turned(const ConvShape& shape, std::int64_t filters);

/// y = the convolution of `count` images.
/// x [count, height, width, channels], y [count, out_height(), out_width(), filters].
template <class T>
void convolve(const ConvShape& shape, std::int64_t count, const T* x, const FiltersLast<T>& w,
              T* y);

/// dw += the derivatives by w, given those by y.
template <class T>
void add_weight_gradients(const ConvShape& shape, std::int64_t count, const T* x, const T* dy,
                          FiltersLast<T>& dw);

/// weight and bias += the gradients.
template <class T>
void add_filters_first(FiltersLast<T>& gradients, TensorOf<T>& weight, TensorOf<T>& bias);

}  // namespace rankbox
