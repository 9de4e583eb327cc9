#include "collectives/barrier_dissemination.h"

#include <doctest/doctest.h>

#include "collectives/cost_ranks.h"
#include "tests/support/expect.h"
#include "verdict/barrier.h"
#include "verdict/judge.h"

namespace rankbox {

namespace {

const Barrier& subject() {
  static const Barrier made(barrier_dissemination, cost::barrier_dissemination);
  return made;
}

// One judgement, over all world sizes, counts and the rest, answers all of the questions below.
const Verdict& verdict() {
  static const Verdict judged = judge("barrier_dissemination", subject());
  return judged;
}

}  // namespace

TEST_CASE("barrier_dissemination lets nobody leave before everybody has come") {
  expect_pass(verdict(), "values");
}

TEST_CASE("barrier_dissemination receives every message as it was sent") {
  expect_pass(verdict(), "messages");
}

TEST_CASE("barrier_dissemination costs ⌈log2 p⌉ α") { expect_pass(verdict(), "cost"); }

TEST_CASE("barrier_dissemination costs, on 8 ranks: 3 steps, no bytes") {
  expect_cost(subject(), "world_size=8", {3, 0, 0});
}

TEST_CASE("barrier_dissemination depends neither on buffers nor on timing") {
  expect_pass(verdict(), "safety");
}

}  // namespace rankbox
