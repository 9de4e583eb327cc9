// Matrix products, by OpenBLAS.
//
//   multiply(x, weight.transposed(), y);                 // y = x Wᵀ
//   multiply(dy.transposed(), x, gradient, Into::kAdd);  // G += dyᵀ x
//
// A matrix is a view: `rows` rows of `columns` elements, `stride` elements from one row to the
// next, so a piece of a larger matrix is a matrix, too.
//
// Cost: 2 m n k operations for (m × k) (k × n), on the calling thread. Each rank is already a
// thread, so OpenBLAS is told once to start none.
// Thread safety: any number of threads may multiply at once, and get the same bits as one alone. At
// most as many run as there are cores, and fewer where memory is limited (RLIMIT_DATA); the others
// wait. Each product takes a 128 MiB buffer of OpenBLAS, which aborts the program when too many are
// in use, and retries forever when memory runs out.
// Errors: InvalidArgument if the sizes do not match.
#pragma once

#include <cstdint>
#include <type_traits>

#include "comm/tensor.h"

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
  operator MatrixOf<const T>() const requires(!std::is_const_v<T>) {
    return {data, rows, columns, stride, is_transposed};
  }
};

/// A tensor's elements, in rows of `columns`. REQUIRES: `columns` divides its size.
template <class T>
MatrixOf<T> as_matrix(TensorOf<T>& tensor, std::int64_t columns) {
  return {tensor.data(), tensor.size() / columns, columns};
}
template <class T>
MatrixOf<const T> as_matrix(const TensorOf<T>& tensor, std::int64_t columns) {
  return {tensor.data(), tensor.size() / columns, columns};
}

enum class Into { kOverwrite, kAdd };

/// c = a b, or c += a b. c is not transposed, and shares no memory with a and b.
void multiply(MatrixOf<const float> a, MatrixOf<const float> b, MatrixOf<float> c,
              Into into = Into::kOverwrite);
void multiply(MatrixOf<const double> a, MatrixOf<const double> b, MatrixOf<double> c,
              Into into = Into::kOverwrite);

}  // namespace rankbox
