#include "parallel/zero3.h"

#include "tests/support/exercise_test.h"
#include "verdict/sharding/zero3.h"

namespace rankbox {

TRAINING_EXERCISE_TEST(Zero3, zero3, "learns what one rank learns",
                       "two all-gathers and a reduce-scatter of every layer",
                       "world_size=4,count=9,steps=0",
                       /*steps=*/30, /*bytes=*/3348, /*reduced=*/1116);

TEST_CASE("zero3 holds no more than its contract allows") {
  expect_pass(judge("zero3", Zero3(zero3)), "memory");
}

}  // namespace rankbox
