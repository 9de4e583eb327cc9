#include "collectives/broadcast_naive.h"

#include "collectives/cost.h"
#include "tests/support/exercise_test.h"
#include "verdict/broadcast.h"

namespace rankbox {

EXERCISE_TEST(Broadcast, broadcast_naive, "gives every rank the tensor of any src", "(p-1)(α + nβ)",
              "world_size=8,count=24", /*steps=*/7, /*bytes=*/672, /*reduced=*/0);

}  // namespace rankbox
