#include "collectives/allgather_bruck.h"

#include "collectives/cost_gather.h"
#include "tests/support/exercise_test.h"
#include "verdict/allgather.h"

namespace rankbox {

EXERCISE_TEST(AllGather, allgather_bruck, "collects all tensors on every rank in rank order",
              "⌈log2 p⌉α + (p-1)nβ", "world_size=8,count=24", /*steps=*/3, /*bytes=*/672,
              /*reduced=*/0);

}  // namespace rankbox
