#include "collectives/allreduce_rabenseifner.h"

#include "collectives/cost.h"
#include "tests/support/exercise_test.h"
#include "verdict/allreduce.h"

namespace rankbox {

EXERCISE_TEST(AllReduce, allreduce_rabenseifner, "leaves the reduction on every rank, for every op",
              "2 log2 p α + 2(p-1)/p nβ + (p-1)/p nγ, and folding", "world_size=8,count=24",
              /*steps=*/6, /*bytes=*/168, /*reduced=*/84);

}  // namespace rankbox
