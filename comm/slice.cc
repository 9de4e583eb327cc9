#include "comm/slice.h"

#include <fmt/format.h>

#include "comm/errors.h"

namespace rankbox {

void Slice::throw_outside(std::int64_t begin, std::int64_t end) const {
  throw InvalidArgument(fmt::format(
      "elements [{}, {}) are not inside a slice of {} elements: 0 <= begin <= end <= {} is needed",
      begin, end, size_, size_));
}

Slice chunk(Slice whole, int i, int n) {
  if (n < 1 || i < 0 || i >= n) {
    throw InvalidArgument(fmt::format("chunk {} of {} does not exist: 0 <= i < n is needed", i, n));
  }
  return whole.sub(i * whole.size() / n, (i + 1) * whole.size() / n);
}

}  // namespace rankbox
