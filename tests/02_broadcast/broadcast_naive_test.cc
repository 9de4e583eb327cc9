#include "collectives/broadcast_naive.h"

#include <doctest/doctest.h>

#include "collectives/cost.h"
#include "tests/support/expect.h"
#include "verdict/broadcast.h"
#include "verdict/judge.h"

namespace rankbox {

namespace {

const Broadcast& subject() {
  static const Broadcast made(broadcast_naive, cost::broadcast_naive);
  return made;
}

// One judgement, over all world sizes, counts and the rest, answers all of the questions below.
const Verdict& verdict() {
  static const Verdict judged = judge("broadcast_naive", subject());
  return judged;
}

}  // namespace

TEST_CASE("broadcast_naive gives every rank the tensor of any src") {
  expect_pass(verdict(), "values");
}

TEST_CASE("broadcast_naive receives every message as it was sent") {
  expect_pass(verdict(), "messages");
}

TEST_CASE("broadcast_naive costs (p-1)(α + nβ)") { expect_pass(verdict(), "cost"); }

TEST_CASE("broadcast_naive costs, on 8 ranks, with 24 elements: 7 steps, 672 bytes, 0 reduced") {
  expect_cost(subject(), "world_size=8,count=24", {7, 672, 0});
}

TEST_CASE("broadcast_naive depends neither on buffers nor on timing") {
  expect_pass(verdict(), "safety");
}

}  // namespace rankbox
