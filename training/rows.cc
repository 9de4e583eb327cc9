#include "training/rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comm/errors.h"

namespace rankbox {

Rows rows_of(const Shape& shape, std::int64_t width, const char* layer) {
  Rows rows{shape.extents(), 1};
  std::int64_t product = 1;
  // The last extent, and as many more as needed; an extent of 1 before them belongs to the rows.
  while (!rows.leading.empty()) {
    product *= rows.leading.back();
    rows.leading.pop_back();
    if (product == 0 || product >= width) break;
  }
  if (product != width) {
    throw InvalidArgument(
        fmt::format("{}: got an input of shape {}, expected one whose last extents multiply to {}",
                    layer, to_string(shape), width));
  }
  for (const std::int64_t extent : rows.leading) rows.count *= extent;
  return rows;
}

Shape with_width(Rows rows, std::int64_t width) {
  rows.leading.push_back(width);
  return Shape(std::move(rows.leading));
}

void check_same_size(const char* layer, std::int64_t dy, std::int64_t y) {
  if (dy == y) return;
  throw InvalidArgument(
      fmt::format("{}: backward got {} elements of dy for an output of {}", layer, dy, y));
}

std::string to_string(const Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape.extents(), ", "));
}

}  // namespace rankbox
