#include "collectives/allreduce_rabenseifner.h"

#include <doctest/doctest.h>

#include "collectives/cost.h"
#include "tests/support/expect.h"
#include "verdict/allreduce.h"
#include "verdict/judge.h"

namespace rankbox {

namespace {

const AllReduce& subject() {
  static const AllReduce made(allreduce_rabenseifner, cost::allreduce_rabenseifner);
  return made;
}

// One judgement, over all world sizes, counts and the rest, answers all of the questions below.
const Verdict& verdict() {
  static const Verdict judged = judge("allreduce_rabenseifner", subject());
  return judged;
}

}  // namespace

TEST_CASE("allreduce_rabenseifner leaves the reduction on every rank, for every op") {
  expect_pass(verdict(), "values");
}

TEST_CASE("allreduce_rabenseifner receives every message as it was sent") {
  expect_pass(verdict(), "messages");
}

TEST_CASE("allreduce_rabenseifner costs 2 log2 p α + 2(p-1)/p nβ + (p-1)/p nγ, and folding") {
  expect_pass(verdict(), "cost");
}

TEST_CASE(
    "allreduce_rabenseifner costs, on 8 ranks, with 24 elements: 6 steps, 168 bytes, 84 reduced") {
  expect_cost(subject(), "world_size=8,count=24", {6, 168, 84});
}

TEST_CASE("allreduce_rabenseifner depends neither on buffers nor on timing") {
  expect_pass(verdict(), "safety");
}

}  // namespace rankbox
