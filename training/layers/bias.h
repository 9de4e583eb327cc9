// The bias of linear layers and convolutions.
#pragma once

#include <algorithm>
#include <cstdint>

#include "training/matrix.h"

namespace rankbox {

/// Sets every row of y to the bias, before a product is added to it.
template <class T>
void fill_rows(MatrixOf<T> y, const T* bias) {
  for (std::int64_t row = 0; row < y.rows; ++row)
    std::copy_n(bias, y.columns, y.data + row * y.stride);
}

/// sums[c] += the sum of column c.
template <class T>
void add_column_sums(MatrixOf<const T> dy, T* sums) {
  for (std::int64_t row = 0; row < dy.rows; ++row) {
    const T* const from = dy.data + row * dy.stride;
    for (std::int64_t column = 0; column < dy.columns; ++column) sums[column] += from[column];
  }
}

}  // namespace rankbox
