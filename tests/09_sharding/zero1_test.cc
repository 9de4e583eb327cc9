#include "parallel/zero1.h"

#include "tests/support/exercise_test.h"
#include "verdict/sharding/zero1.h"

namespace rankbox {

TRAINING_EXERCISE_TEST(Zero1, zero1, "learns what one rank learns",
                       "a reduce-scatter and an all-gather of all parameters",
                       "world_size=4,count=9,steps=0",
                       /*steps=*/4, /*bytes=*/2184, /*reduced=*/1092);

TEST_CASE("zero1 holds no more than its contract allows") {
  expect_pass(judge("zero1", Zero1(zero1)), "memory");
}

}  // namespace rankbox
