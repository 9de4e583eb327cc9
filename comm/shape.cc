#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comm/errors.h"
#include "comm/tensor.h"

namespace rankbox {

Shape::Shape(std::vector<std::int64_t> extents) : extents_(std::move(extents)) {
  for (std::int64_t extent : extents_) {
    if (extent < 0)
      throw InvalidArgument(
          fmt::format("a shape cannot have an extent of {}: 0 or more are needed", extent));
  }
  elements();  // throws if they are too many to count
}

std::int64_t Shape::elements() const {
  if (extents_.empty()) return 0;
  std::int64_t product = 1;
  for (std::int64_t extent : extents_) {
    if (__builtin_mul_overflow(product, extent, &product)) {
      throw InvalidArgument("a shape has more elements than 64 bits can count");
    }
  }
  return product;
}

void Shape::throw_no_element(std::span<const std::int64_t> index) const {
  throw InvalidArgument(fmt::format("element ({}) does not exist: the tensor's shape is ({})",
                                    fmt::join(index, ", "), fmt::join(extents_, ", ")));
}

void detail::check_holds(const Shape& shape, std::size_t count) {
  if (shape.elements() == static_cast<std::int64_t>(count)) return;
  throw InvalidArgument(
      fmt::format("from_host: {} elements do not fill a shape of {}: the two must be equal", count,
                  shape.elements()));
}

}  // namespace rankbox
