#include "collectives/reduce_tree.h"

#include <doctest/doctest.h>

#include "collectives/cost.h"
#include "tests/support/expect.h"
#include "verdict/judge.h"
#include "verdict/reduce.h"

namespace rankbox {

namespace {

const Reduce& subject() {
  static const Reduce made(reduce_tree, cost::reduce_tree);
  return made;
}

// One judgement, over all world sizes, counts and the rest, answers all of the questions below.
const Verdict& verdict() {
  static const Verdict judged = judge("reduce_tree", subject());
  return judged;
}

}  // namespace

TEST_CASE("reduce_tree leaves the reduction on any dst, for every op") {
  expect_pass(verdict(), "values");
}

TEST_CASE("reduce_tree receives every message as it was sent") {
  expect_pass(verdict(), "messages");
}

TEST_CASE("reduce_tree costs ⌈log2 p⌉(α + nβ + nγ)") { expect_pass(verdict(), "cost"); }

TEST_CASE("reduce_tree costs, on 8 ranks, with 24 elements: 3 steps, 288 bytes, 288 reduced") {
  expect_cost(subject(), "world_size=8,count=24", {3, 288, 288});
}

TEST_CASE("reduce_tree depends neither on buffers nor on timing") {
  expect_pass(verdict(), "safety");
}

}  // namespace rankbox
