#include "collectives/allreduce_hierarchical.h"

#include <doctest/doctest.h>

#include "collectives/cost.h"
#include "tests/support/expect.h"
#include "verdict/allreduce.h"
#include "verdict/judge.h"

namespace rankbox {

namespace {

const HierarchicalAllReduce& subject() {
  static const HierarchicalAllReduce made(allreduce_hierarchical, cost::allreduce_hierarchical);
  return made;
}

// One judgement, over all world sizes, counts and the rest, answers all of the questions below.
const Verdict& verdict() {
  static const Verdict judged = judge("allreduce_hierarchical", subject());
  return judged;
}

}  // namespace

TEST_CASE("allreduce_hierarchical leaves the reduction on every rank, for every op") {
  expect_pass(verdict(), "values");
}

TEST_CASE("allreduce_hierarchical receives every message as it was sent") {
  expect_pass(verdict(), "messages");
}

TEST_CASE(
    "allreduce_hierarchical costs two splits, two trees in the largest node and one all-reduce "
    "between nodes") {
  expect_pass(verdict(), "cost");
}

TEST_CASE(
    "allreduce_hierarchical costs, on 8 ranks, with 24 elements: 12 steps, 480 bytes, 240 "
    "reduced") {
  expect_cost(subject(), "world_size=8,nodes=2,count=24", {12, 480, 240});
}

TEST_CASE("allreduce_hierarchical depends neither on buffers nor on timing") {
  expect_pass(verdict(), "safety");
}

}  // namespace rankbox
