#include "collectives/broadcast_tree.h"

#include <doctest/doctest.h>

#include "collectives/cost.h"
#include "tests/support/expect.h"
#include "verdict/broadcast.h"
#include "verdict/judge.h"

namespace rankbox {

namespace {

const Broadcast& subject() {
  static const Broadcast made(broadcast_tree, cost::broadcast_tree);
  return made;
}

// One judgement, over all world sizes, counts and the rest, answers all of the questions below.
const Verdict& verdict() {
  static const Verdict judged = judge("broadcast_tree", subject());
  return judged;
}

}  // namespace

TEST_CASE("broadcast_tree gives every rank the tensor of any src") {
  expect_pass(verdict(), "values");
}

TEST_CASE("broadcast_tree receives every message as it was sent") {
  expect_pass(verdict(), "messages");
}

TEST_CASE("broadcast_tree costs ⌈log2 p⌉(α + nβ)") { expect_pass(verdict(), "cost"); }

TEST_CASE("broadcast_tree costs, on 8 ranks, with 24 elements: 3 steps, 288 bytes, 0 reduced") {
  expect_cost(subject(), "world_size=8,count=24", {3, 288, 0});
}

TEST_CASE("broadcast_tree depends neither on buffers nor on timing") {
  expect_pass(verdict(), "safety");
}

}  // namespace rankbox
