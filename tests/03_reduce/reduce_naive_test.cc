#include "collectives/reduce_naive.h"

#include "collectives/cost.h"
#include "tests/support/exercise_test.h"
#include "verdict/reduce.h"

namespace rankbox {

EXERCISE_TEST(Reduce, reduce_naive, "leaves the reduction on any dst, for every op",
              "(p-1)(α + nβ + nγ)", "world_size=8,count=24", /*steps=*/7, /*bytes=*/672,
              /*reduced=*/672);

}  // namespace rankbox
