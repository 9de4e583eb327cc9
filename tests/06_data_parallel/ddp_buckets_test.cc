#include "parallel/ddp_buckets.h"

#include <doctest/doctest.h>

#include "judge/data_parallel/buckets.h"

namespace rankbox {

TEST_CASE("buckets are packed from the last parameter to the first, and none too large") {
  const std::vector<std::int64_t> sizes = {8, 2, 4, 2};  // elements; as in the contract
  const auto elements = [&](std::int64_t bytes) { return sizes_of(packed(sizes, bytes)); };
  CHECK(elements(1) == std::vector<std::int64_t>{2, 4, 2, 8});
  CHECK(elements(23) == std::vector<std::int64_t>{2, 4, 2, 8});
  CHECK(elements(24) == std::vector<std::int64_t>{6, 2, 8});
  CHECK(elements(32) == std::vector<std::int64_t>{8, 8});
  CHECK(elements(64) == std::vector<std::int64_t>{16});
}

}  // namespace rankbox
