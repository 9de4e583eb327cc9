#include "parallel/zero2.h"

#include "tests/support/exercise_test.h"
#include "verdict/sharding/zero2.h"

namespace rankbox {

TRAINING_EXERCISE_TEST(Zero2, zero2, "learns what one rank learns",
                       "a reduce-scatter and an all-gather of every layer",
                       "world_size=4,count=9,steps=0",
                       /*steps=*/20, /*bytes=*/2232, /*reduced=*/1116);

TEST_CASE("zero2 holds no more than its contract allows") {
  expect_pass(judge("zero2", Zero2(zero2)), "memory");
}

}  // namespace rankbox
