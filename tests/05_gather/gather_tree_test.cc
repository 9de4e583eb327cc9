#include "collectives/gather_tree.h"

#include <doctest/doctest.h>

#include "collectives/cost_gather.h"
#include "tests/support/expect.h"
#include "verdict/gather.h"
#include "verdict/judge.h"

namespace rankbox {

namespace {

const Gather& subject() {
  static const Gather made(gather_tree, cost::gather_tree);
  return made;
}

// One judgement, over all world sizes, counts and the rest, answers all of the questions below.
const Verdict& verdict() {
  static const Verdict judged = judge("gather_tree", subject());
  return judged;
}

}  // namespace

TEST_CASE("gather_tree collects all tensors on any dst in rank order") {
  expect_pass(verdict(), "values");
}

TEST_CASE("gather_tree receives every message as it was sent") {
  expect_pass(verdict(), "messages");
}

TEST_CASE("gather_tree costs ⌈log2 p⌉α + (p-1)nβ") { expect_pass(verdict(), "cost"); }

TEST_CASE("gather_tree costs, on 8 ranks, with 24 elements: 3 steps, 672 bytes, 0 reduced") {
  expect_cost(subject(), "world_size=8,count=24", {3, 672, 0});
}

TEST_CASE("gather_tree depends neither on buffers nor on timing") {
  expect_pass(verdict(), "safety");
}

}  // namespace rankbox
