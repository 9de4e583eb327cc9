#include "collectives/allreduce_naive.h"

#include "collectives/cost.h"
#include "tests/support/exercise_test.h"
#include "verdict/allreduce.h"

namespace rankbox {

EXERCISE_TEST(AllReduce, allreduce_naive, "leaves the reduction on every rank, for every op",
              "2(p-1)(α + nβ) + (p-1)nγ", "world_size=8,count=24", /*steps=*/14, /*bytes=*/1344,
              /*reduced=*/672);

}  // namespace rankbox
