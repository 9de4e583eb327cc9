#include "collectives/allgather_naive.h"

#include "collectives/cost_gather.h"
#include "tests/support/exercise_test.h"
#include "verdict/allgather.h"

namespace rankbox {

EXERCISE_TEST(AllGather, allgather_naive, "collects all tensors on every rank in rank order",
              "2(p-1)α + (p-1)(p+1)nβ", "world_size=8,count=24", /*steps=*/14, /*bytes=*/6048,
              /*reduced=*/0);

}  // namespace rankbox
