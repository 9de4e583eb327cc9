// A tensor as rows, for layers that treat all rows alike, for any leading extents.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/tensor.h"

namespace rankbox {

/// x[…, width], given a shape whose last extents multiply to `width`: the leading extents, and the
/// number of rows. [32, 7, 7, 64] has 32 rows of 3136 and 1568 rows of 64.
struct Rows {
  std::vector<std::int64_t> leading;
  std::int64_t count = 0;
};

/// Throws InvalidArgument, in the name of `layer`, if there are no such rows.
Rows rows_of(const Shape& shape, std::int64_t width, const char* layer);

/// The leading extents, followed by `width`.
Shape with_width(Rows rows, std::int64_t width);

/// Throws InvalidArgument unless both are the same: backward needs a tensor like forward's output.
void check_same_size(const char* layer, std::int64_t dy, std::int64_t y);

/// "[32, 28, 28, 1]"
std::string to_string(const Shape& shape);

}  // namespace rankbox
