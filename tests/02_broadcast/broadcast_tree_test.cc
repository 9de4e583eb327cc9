#include "collectives/broadcast_tree.h"

#include "collectives/cost.h"
#include "tests/support/exercise_test.h"
#include "verdict/broadcast.h"

namespace rankbox {

EXERCISE_TEST(Broadcast, broadcast_tree, "gives every rank the tensor of any src",
              "⌈log2 p⌉(α + nβ)", "world_size=8,count=24", /*steps=*/3, /*bytes=*/288,
              /*reduced=*/0);

}  // namespace rankbox
