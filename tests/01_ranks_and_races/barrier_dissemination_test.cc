#include "collectives/barrier_dissemination.h"

#include "collectives/cost_ranks.h"
#include "tests/support/exercise_test.h"
#include "verdict/barrier.h"

namespace rankbox {

EXERCISE_TEST(Barrier, barrier_dissemination, "lets nobody leave before everybody has come",
              "⌈log2 p⌉ α", "world_size=8", /*steps=*/3, /*bytes=*/0, /*reduced=*/0);

}  // namespace rankbox
