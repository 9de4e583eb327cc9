#include "parallel/ddp_buckets.h"

#include "tests/support/exercise_test.h"
#include "verdict/data_parallel/buckets.h"
#include "verdict/data_parallel/ddp_buckets.h"

namespace rankbox {

// Gradients of 36, 75, 1, 48, 13 and 5 floats, and buckets of at most 104: 5+13+48+1, 75 and 36 floats,
// 712 bytes. Four ranks swap all of it twice, in butterflies.
TRAINING_EXERCISE_TEST(DdpBuckets, ddp_buckets,
                       "makes gradients their means, and ranks learn as one",
                       "Ψβ and a latency for each bucket, in all-reduces",
                       "world_size=4,count=12,steps=0,bucket=416", /*steps=*/6, /*bytes=*/1424,
                       /*reduced=*/1424);

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
