#include "collectives/allreduce_tree.h"

#include <doctest/doctest.h>

#include "collectives/cost.h"
#include "tests/support/expect.h"
#include "verdict/allreduce.h"
#include "verdict/judge.h"

namespace rankbox {

namespace {

const AllReduce& subject() {
  static const AllReduce made(allreduce_tree, cost::allreduce_tree);
  return made;
}

// One judgement, over all world sizes, counts and the rest, answers all of the questions below.
const Verdict& verdict() {
  static const Verdict judged = judge("allreduce_tree", subject());
  return judged;
}

}  // namespace

TEST_CASE("allreduce_tree leaves the reduction on every rank, for every op") {
  expect_pass(verdict(), "values");
}

TEST_CASE("allreduce_tree receives every message as it was sent") {
  expect_pass(verdict(), "messages");
}

TEST_CASE("allreduce_tree costs 2⌈log2 p⌉(α + nβ) + ⌈log2 p⌉nγ") { expect_pass(verdict(), "cost"); }

TEST_CASE("allreduce_tree costs, on 8 ranks, with 24 elements: 6 steps, 576 bytes, 288 reduced") {
  expect_cost(subject(), "world_size=8,count=24", {6, 576, 288});
}

TEST_CASE("allreduce_tree depends neither on buffers nor on timing") {
  expect_pass(verdict(), "safety");
}

}  // namespace rankbox
