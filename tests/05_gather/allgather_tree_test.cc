#include "collectives/allgather_tree.h"

#include "collectives/cost_gather.h"
#include "tests/support/exercise_test.h"
#include "verdict/allgather.h"

namespace rankbox {

EXERCISE_TEST(AllGather, allgather_tree, "collects all tensors on every rank in rank order",
              "2⌈log2 p⌉α + (p-1 + p⌈log2 p⌉)nβ", "world_size=8,count=24", /*steps=*/6,
              /*bytes=*/2976, /*reduced=*/0);

}  // namespace rankbox
