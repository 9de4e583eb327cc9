// The bias of linear layers and convolutions.
#pragma once

#include <cstdint>

#include "compute/for_each.h"
#include "compute/matrix.h"
#include "compute/sum_columns.h"

namespace rankbox {

/// Sets every row of y to the bias, before a product is added to it.
template <class T>
void fill_rows(MatrixOf<T> y, const T* bias) {
  for_each(y.rows, y.columns, [=] RANKBOX_PORTABLE(std::int64_t row, std::int64_t column) {
    y.data[row * y.stride + column] = bias[column];
  });
}

/// sums[c] += the sum of column c.
template <class T>
void add_column_sums(MatrixOf<const T> dy, T* sums) {
  sum_columns(
      dy.rows, dy.columns,
      [=] RANKBOX_PORTABLE(std::int64_t row, std::int64_t column) {
        return dy.data[row * dy.stride + column];
      },
      sums);
}

}  // namespace rankbox
