#include "collectives/allreduce_tree.h"

#include "collectives/cost.h"
#include "tests/support/exercise_test.h"
#include "verdict/allreduce.h"

namespace rankbox {

EXERCISE_TEST(AllReduce, allreduce_tree, "leaves the reduction on every rank, for every op",
              "2⌈log2 p⌉(α + nβ) + ⌈log2 p⌉nγ", "world_size=8,count=24", /*steps=*/6, /*bytes=*/576,
              /*reduced=*/288);

}  // namespace rankbox
