#include "collectives/reduce_scatter_gather.h"

#include "collectives/cost.h"
#include "tests/support/exercise_test.h"
#include "verdict/reduce.h"

namespace rankbox {

EXERCISE_TEST(Reduce, reduce_scatter_gather, "leaves the reduction on any dst, for every op",
              "2 log2 p α + 2(p-1)/p nβ + (p-1)/p nγ", "world_size=8,count=24", /*steps=*/6,
              /*bytes=*/168, /*reduced=*/84);

}  // namespace rankbox
