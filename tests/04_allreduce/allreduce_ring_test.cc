#include "collectives/allreduce_ring.h"

#include "collectives/cost.h"
#include "tests/support/exercise_test.h"
#include "verdict/allreduce.h"

namespace rankbox {

EXERCISE_TEST(AllReduce, allreduce_ring, "leaves the reduction on every rank, for every op",
              "2(p-1)α + 2(p-1)/p nβ + (p-1)/p nγ", "world_size=8,count=24", /*steps=*/14,
              /*bytes=*/168, /*reduced=*/84);

}  // namespace rankbox
