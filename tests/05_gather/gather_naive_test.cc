#include "collectives/gather_naive.h"

#include "collectives/cost_gather.h"
#include "tests/support/exercise_test.h"
#include "verdict/gather.h"

namespace rankbox {

EXERCISE_TEST(Gather, gather_naive, "collects all tensors on any dst in rank order",
              "(p-1)(α + nβ)", "world_size=8,count=24", /*steps=*/7, /*bytes=*/672, /*reduced=*/0);

}  // namespace rankbox
