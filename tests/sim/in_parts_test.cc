// The parts of a loop, on any number of items and cores.
#include "sim/in_parts.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

namespace rankbox::sim {
namespace {

TEST_CASE("every item is in exactly one part, and all parts have ended when the call returns") {
  for (const std::size_t count : {0, 1, 7, 16'383, 16'384, 32'768, 100'003, 1 << 20}) {
    CAPTURE(count);
    std::vector<std::atomic<int>> times(count);
    in_parts(count, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) ++times[i];
    });
    CHECK(std::ranges::all_of(times, [](const std::atomic<int>& each) { return each == 1; }));
  }
}

}  // namespace
}  // namespace rankbox::sim
