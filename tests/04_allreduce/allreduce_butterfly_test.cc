#include "collectives/allreduce_butterfly.h"

#include <doctest/doctest.h>

#include "collectives/cost.h"
#include "tests/support/expect.h"
#include "verdict/allreduce.h"
#include "verdict/judge.h"

namespace rankbox {

namespace {

const AllReduce& subject() {
  static const AllReduce made(allreduce_butterfly, cost::allreduce_butterfly);
  return made;
}

// One judgement, over all world sizes, counts and the rest, answers all of the questions below.
const Verdict& verdict() {
  static const Verdict judged = judge("allreduce_butterfly", subject());
  return judged;
}

}  // namespace

TEST_CASE("allreduce_butterfly leaves the reduction on every rank, for every op") {
  expect_pass(verdict(), "values");
}

TEST_CASE("allreduce_butterfly receives every message as it was sent") {
  expect_pass(verdict(), "messages");
}

TEST_CASE("allreduce_butterfly costs log2 p (α + nβ + nγ), and folding") {
  expect_pass(verdict(), "cost");
}

TEST_CASE(
    "allreduce_butterfly costs, on 8 ranks, with 24 elements: 3 steps, 288 bytes, 288 reduced") {
  expect_cost(subject(), "world_size=8,count=24", {3, 288, 288});
}

TEST_CASE("allreduce_butterfly depends neither on buffers nor on timing") {
  expect_pass(verdict(), "safety");
}

}  // namespace rankbox
