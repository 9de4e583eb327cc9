#include "collectives/ping_pong.h"

#include <doctest/doctest.h>

#include "collectives/cost_ranks.h"
#include "tests/support/expect.h"
#include "verdict/judge.h"
#include "verdict/ping_pong.h"

namespace rankbox {

namespace {

const PingPong& subject() {
  static const PingPong made(ping_pong, cost::ping_pong);
  return made;
}

// One judgement, over all world sizes, counts and the rest, answers all of the questions below.
const Verdict& verdict() {
  static const Verdict judged = judge("ping_pong", subject());
  return judged;
}

}  // namespace

TEST_CASE("ping_pong brings the lower rank's tensor there and back") {
  expect_pass(verdict(), "values");
}

TEST_CASE("ping_pong receives every message as it was sent") { expect_pass(verdict(), "messages"); }

TEST_CASE("ping_pong costs 2(α + nβ)") { expect_pass(verdict(), "cost"); }

TEST_CASE("ping_pong costs, on 8 ranks, with 24 elements: 2 steps, 192 bytes, 0 reduced") {
  expect_cost(subject(), "world_size=8,count=24", {2, 192, 0});
}

TEST_CASE("ping_pong depends neither on buffers nor on timing") {
  expect_pass(verdict(), "safety");
}

}  // namespace rankbox
