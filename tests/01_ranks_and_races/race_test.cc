#include "collectives/race.h"

#include <doctest/doctest.h>

#include "tests/support/expect.h"
#include "verdict/judge.h"
#include "verdict/race.h"

namespace rankbox {

TEST_CASE("race makes all updates and loses none, for any number of threads and repeats") {
  expect_pass(judge("race", Race(race)), "values");
}

}  // namespace rankbox
