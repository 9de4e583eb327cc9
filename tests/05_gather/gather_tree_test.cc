#include "collectives/gather_tree.h"

#include "collectives/cost_gather.h"
#include "tests/support/exercise_test.h"
#include "verdict/gather.h"

namespace rankbox {

EXERCISE_TEST(Gather, gather_tree, "collects all tensors on any dst in rank order",
              "⌈log2 p⌉α + (p-1)nβ", "world_size=8,count=24", /*steps=*/3, /*bytes=*/672,
              /*reduced=*/0);

}  // namespace rankbox
