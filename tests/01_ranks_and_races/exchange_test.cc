#include "collectives/exchange.h"

#include "collectives/cost_ranks.h"
#include "tests/support/exercise_test.h"
#include "verdict/exchange.h"

namespace rankbox {

EXERCISE_TEST(Exchange, exchange, "gives each of two partners the other's tensor", "α + nβ",
              "world_size=8,count=24", /*steps=*/1, /*bytes=*/96, /*reduced=*/0);

}  // namespace rankbox
