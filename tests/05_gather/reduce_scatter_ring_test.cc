#include "collectives/reduce_scatter_ring.h"

#include "collectives/cost_gather.h"
#include "tests/support/exercise_test.h"
#include "verdict/reduce_scatter.h"

namespace rankbox {

EXERCISE_TEST(ReduceScatter, reduce_scatter_ring, "leaves on every rank its chunk of the reduction",
              "(p-1)(α + nβ/p + nγ/p)", "world_size=8,count=24", /*steps=*/7, /*bytes=*/84,
              /*reduced=*/84);

}  // namespace rankbox
