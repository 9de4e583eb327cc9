#include "collectives/broadcast_scatter_allgather.h"

#include "collectives/cost.h"
#include "tests/support/exercise_test.h"
#include "verdict/broadcast.h"

namespace rankbox {

EXERCISE_TEST(Broadcast, broadcast_scatter_allgather, "gives every rank the tensor of any src",
              "(⌈log2 p⌉ + p-1)α + 2(p-1)/p nβ", "world_size=8,count=24", /*steps=*/10,
              /*bytes=*/168, /*reduced=*/0);

}  // namespace rankbox
