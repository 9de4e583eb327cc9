// The argument checks of multiply (matrix.h), for every kind of memory.
#pragma once

#include <fmt/format.h>

#include "comm/errors.h"
#include "compute/matrix.h"

namespace rankbox {

template <class From, class To>
void check_product(const MatrixOf<const From>& a, const MatrixOf<const From>& b,
                   const MatrixOf<To>& c) {
  if (a.columns == b.rows && a.rows == c.rows && b.columns == c.columns && !c.is_transposed) return;
  throw InvalidArgument(fmt::format("a matrix product ({} × {}) ({} × {}) does not give {} × {}{}",
                                    a.rows, a.columns, b.rows, b.columns, c.rows, c.columns,
                                    c.is_transposed ? " transposed" : ""));
}

}  // namespace rankbox
