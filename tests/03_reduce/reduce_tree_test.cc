#include "collectives/reduce_tree.h"

#include "collectives/cost.h"
#include "tests/support/exercise_test.h"
#include "verdict/reduce.h"

namespace rankbox {

EXERCISE_TEST(Reduce, reduce_tree, "leaves the reduction on any dst, for every op",
              "⌈log2 p⌉(α + nβ + nγ)", "world_size=8,count=24", /*steps=*/3, /*bytes=*/288,
              /*reduced=*/288);

}  // namespace rankbox
