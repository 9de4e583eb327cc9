// Scatter-add of rows into a table: the gradient of an embedding. Rows may share a target.
//
// Cost: rows · width additions on the host. On a GPU a thread per element of the table reads the
// targets of all rows: entries · width · rows comparisons, 10⁸ in a fraction of a millisecond. So
// the additions have the host's order without atomics. Thread safety, errors: as for_each.
#pragma once

#include <cstdint>

#include "compute/for_each.h"

namespace rankbox {

namespace detail {

template <class T, class F>
struct AddToElement {
  std::int64_t rows, width;
  F target;
  const T* from;
  T* table;
  RANKBOX_PORTABLE void operator()(std::int64_t entry, std::int64_t column) const {
    T sum = table[entry * width + column];
    for (std::int64_t row = 0; row < rows; ++row) {
      if (target(row) == entry) sum += from[row * width + column];
    }
    table[entry * width + column] = sum;
  }
};

}  // namespace detail

/// table[target(row)] += from[row] for all rows, in order; from [rows, width],
/// table [entries, width]. REQUIRES: 0 <= target(row) < entries.
template <class T, class F>
void add_rows(std::int64_t rows, std::int64_t width, F target, const T* from, std::int64_t entries,
              T* table) {
  if constexpr (kOnGpu) {
    for_each(entries, width, detail::AddToElement<T, F>{rows, width, target, from, table});
  } else {
    for (std::int64_t row = 0; row < rows; ++row) {
      T* const to = table + target(row) * width;
      for (std::int64_t column = 0; column < width; ++column)
        to[column] += from[row * width + column];
    }
  }
}

}  // namespace rankbox
