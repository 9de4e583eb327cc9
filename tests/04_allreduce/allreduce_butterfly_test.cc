#include "collectives/allreduce_butterfly.h"

#include "collectives/cost.h"
#include "tests/support/exercise_test.h"
#include "verdict/allreduce.h"

namespace rankbox {

EXERCISE_TEST(AllReduce, allreduce_butterfly, "leaves the reduction on every rank, for every op",
              "log2 p (α + nβ + nγ), and folding", "world_size=8,count=24", /*steps=*/3,
              /*bytes=*/288, /*reduced=*/288);

}  // namespace rankbox
