#include "collectives/alltoall_pairwise.h"

#include "collectives/cost_gather.h"
#include "tests/support/exercise_test.h"
#include "verdict/alltoall.h"

namespace rankbox {

EXERCISE_TEST(AllToAll, alltoall_pairwise, "gives every rank the chunks that are meant for it",
              "(p-1)(α + nβ/p)", "world_size=8,count=24", /*steps=*/7, /*bytes=*/84, /*reduced=*/0);

}  // namespace rankbox
