#include "collectives/scatter_tree.h"

#include <doctest/doctest.h>

#include "collectives/cost_gather.h"
#include "tests/support/expect.h"
#include "verdict/judge.h"
#include "verdict/scatter.h"

namespace rankbox {

namespace {

const Scatter& subject() {
  static const Scatter made(scatter_tree, cost::scatter_tree);
  return made;
}

// One judgement, over all world sizes, counts and the rest, answers all of the questions below.
const Verdict& verdict() {
  static const Verdict judged = judge("scatter_tree", subject());
  return judged;
}

}  // namespace

TEST_CASE("scatter_tree gives every rank its piece of any src's tensor") {
  expect_pass(verdict(), "values");
}

TEST_CASE("scatter_tree receives every message as it was sent") {
  expect_pass(verdict(), "messages");
}

TEST_CASE("scatter_tree costs ⌈log2 p⌉α + (p-1)nβ") { expect_pass(verdict(), "cost"); }

TEST_CASE("scatter_tree costs, on 8 ranks, with 24 elements: 3 steps, 672 bytes, 0 reduced") {
  expect_cost(subject(), "world_size=8,count=24", {3, 672, 0});
}

TEST_CASE("scatter_tree depends neither on buffers nor on timing") {
  expect_pass(verdict(), "safety");
}

}  // namespace rankbox
