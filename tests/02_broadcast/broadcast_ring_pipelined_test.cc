#include "collectives/broadcast_ring_pipelined.h"

#include "collectives/cost.h"
#include "tests/support/exercise_test.h"
#include "verdict/broadcast.h"

namespace rankbox {

EXERCISE_TEST(SegmentedBroadcast, broadcast_ring_pipelined,
              "gives every rank the tensor of any src", "(p+s-2)(α + nβ/s)",
              "world_size=8,count=24,segments=3", /*steps=*/9, /*bytes=*/288, /*reduced=*/0);

}  // namespace rankbox
