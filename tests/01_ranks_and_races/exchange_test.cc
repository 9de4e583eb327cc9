#include "collectives/exchange.h"

#include <doctest/doctest.h>

#include "collectives/cost_ranks.h"
#include "tests/support/expect.h"
#include "verdict/exchange.h"
#include "verdict/judge.h"

namespace rankbox {

namespace {

const Exchange& subject() {
  static const Exchange made(exchange, cost::exchange);
  return made;
}

// One judgement, over all world sizes, counts and the rest, answers all of the questions below.
const Verdict& verdict() {
  static const Verdict judged = judge("exchange", subject());
  return judged;
}

}  // namespace

TEST_CASE("exchange gives each of two partners the other's tensor") {
  expect_pass(verdict(), "values");
}

TEST_CASE("exchange receives every message as it was sent") { expect_pass(verdict(), "messages"); }

TEST_CASE("exchange costs α + nβ") { expect_pass(verdict(), "cost"); }

TEST_CASE("exchange costs, on 8 ranks, with 24 elements: 1 steps, 96 bytes, 0 reduced") {
  expect_cost(subject(), "world_size=8,count=24", {1, 96, 0});
}

TEST_CASE("exchange depends neither on buffers nor on timing") { expect_pass(verdict(), "safety"); }

}  // namespace rankbox
