#include "collectives/allreduce_hierarchical.h"

#include "collectives/cost.h"
#include "tests/support/exercise_test.h"
#include "verdict/allreduce.h"

namespace rankbox {

EXERCISE_TEST(HierarchicalAllReduce, allreduce_hierarchical,
              "leaves the reduction on every rank, for every op",
              "two splits, two trees in the largest node and one all-reduce between nodes",
              "world_size=8,nodes=2,count=24", /*steps=*/12, /*bytes=*/480, /*reduced=*/240);

}  // namespace rankbox
