#include "collectives/allgather_ring.h"

#include "collectives/cost_gather.h"
#include "tests/support/exercise_test.h"
#include "verdict/allgather.h"

namespace rankbox {

EXERCISE_TEST(AllGather, allgather_ring, "collects all tensors on every rank in rank order",
              "(p-1)(α + nβ)", "world_size=8,count=24", /*steps=*/7, /*bytes=*/672, /*reduced=*/0);

}  // namespace rankbox
