#include "comm/slice.h"

#include <fmt/format.h>

#include "comm/tensor_checks.h"

namespace rankbox {

void Slice::throw_outside(std::int64_t begin, std::int64_t end, Place place) const {
  refuse_arithmetic("sub",
                    fmt::format("elements [{}, {}) are not inside a slice of {} elements: 0 <= "
                                "begin <= end <= {} is needed",
                                begin, end, size_, size_),
                    place);
}

Slice chunk(Slice whole, int i, int n, Place place) {
  if (n < 1 || i < 0 || i >= n) {
    refuse_arithmetic(
        "chunk", fmt::format("chunk {} of {} does not exist: 0 <= i < n is needed", i, n), place);
  }
  return whole.sub(i * whole.size() / n, (i + 1) * whole.size() / n);
}

}  // namespace rankbox
