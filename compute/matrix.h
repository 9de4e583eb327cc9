// Matrix products, by OpenBLAS on the host (host/multiply.cc) and cuBLAS on a GPU (gpu/compute/).
//
//   multiply(x, weight.transposed(), y);                 // y = x Wᵀ
//   multiply(dy.transposed(), x, gradient, Into::kAdd);  // G += dyᵀ x
//
// A matrix is a view: `rows` rows of `columns` elements, `stride` elements from one row to the
// next, so a piece of a larger matrix is a matrix, too.
//
// Cost: 2 m n k operations for (m × k) (k × n): on the calling thread, or enqueued on the rank's
// stream, where float factors are rounded to fewer bits only within an Autocast (no TF32).
// Thread safety: any number of threads may multiply at once, and get the same bits as one alone. On
// the host at most as many run as there are cores; the others wait.
// Errors: InvalidArgument if the sizes do not match; on a GPU also BlasError.
#pragma once

#include <cstdint>
#include <type_traits>

#include "comm/bfloat16.h"
#include "comm/float16.h"
#include "comm/tensor.h"
#include "comm/without_data.h"

namespace rankbox {

template <class T>
struct MatrixOf {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t stride = 0;  // in memory, from one row (if transposed: column) to the next
  bool is_transposed = false;

  MatrixOf(T* at, std::int64_t row_count, std::int64_t column_count, std::int64_t row_stride,
           bool flipped = false)
      : data(at),
        rows(row_count),
        columns(column_count),
        stride(row_stride),
        is_transposed(flipped) {}
  MatrixOf(T* at, std::int64_t row_count, std::int64_t column_count)
      : MatrixOf(at, row_count, column_count, column_count) {}

  MatrixOf transposed() const { return {data, columns, rows, stride, !is_transposed}; }
  /// To a matrix of const elements.
  template <class U>
  requires(std::is_same_v<U, const T> && !std::is_const_v<T>) operator MatrixOf<U>() const {
    return {data, rows, columns, stride, is_transposed};
  }
};

/// A tensor's elements, in rows of `columns`. REQUIRES: `columns` divides its size.
template <class T>
MatrixOf<T> as_matrix(TensorOf<T>& tensor, std::int64_t columns) {
  require_data(Slice(tensor).data(), "as_matrix", Place());
  return {static_cast<T*>(Slice(tensor).data()), tensor.size() / columns, columns};
}
template <class T>
MatrixOf<const T> as_matrix(const TensorOf<T>& tensor, std::int64_t columns) {
  require_data(Slice(tensor).data(), "as_matrix", Place());
  return {static_cast<const T*>(Slice(tensor).data()), tensor.size() / columns, columns};
}

/// Matrices of one size in one block of memory: number i begins i * step elements after the first.
template <class T>
struct MatricesOf {
  MatrixOf<T> first;
  std::int64_t step = 0;

  MatricesOf transposed() const { return {first.transposed(), step}; }
  template <class U>
  requires(std::is_same_v<U, const T> && !std::is_const_v<T>) operator MatricesOf<U>() const {
    return {first, step};
  }
};

enum class Into { kOverwrite, kAdd };

/// c = a b, or c += a b. c is not transposed, and shares no memory with a and b.
void multiply(MatrixOf<const float> a, MatrixOf<const float> b, MatrixOf<float> c,
              Into into = Into::kOverwrite);
void multiply(MatrixOf<const double> a, MatrixOf<const double> b, MatrixOf<double> c,
              Into into = Into::kOverwrite);
/// Of 16-bit factors: their products and sums are floats.
void multiply(MatrixOf<const Float16> a, MatrixOf<const Float16> b, MatrixOf<float> c,
              Into into = Into::kOverwrite);
void multiply(MatrixOf<const BFloat16> a, MatrixOf<const BFloat16> b, MatrixOf<float> c,
              Into into = Into::kOverwrite);

/// cᵢ = aᵢ bᵢ for 0 <= i < count: the heads of attention.
void multiply(std::int64_t count, MatricesOf<const float> a, MatricesOf<const float> b,
              MatricesOf<float> c);
void multiply(std::int64_t count, MatricesOf<const double> a, MatricesOf<const double> b,
              MatricesOf<double> c);

}  // namespace rankbox
