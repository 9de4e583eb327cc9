#include "collectives/ping_pong.h"

#include "collectives/cost_ranks.h"
#include "tests/support/exercise_test.h"
#include "verdict/ping_pong.h"

namespace rankbox {

EXERCISE_TEST(PingPong, ping_pong, "brings the lower rank's tensor there and back", "2(α + nβ)",
              "world_size=8,count=24", /*steps=*/2, /*bytes=*/192, /*reduced=*/0);

}  // namespace rankbox
