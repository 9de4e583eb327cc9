#include "collectives/allreduce_naive.h"

#include <doctest/doctest.h>

#include "collectives/cost.h"
#include "tests/support/expect.h"
#include "verdict/allreduce.h"
#include "verdict/judge.h"

namespace rankbox {

namespace {

const AllReduce& subject() {
  static const AllReduce made(allreduce_naive, cost::allreduce_naive);
  return made;
}

// One judgement, over all world sizes, counts and the rest, answers all of the questions below.
const Verdict& verdict() {
  static const Verdict judged = judge("allreduce_naive", subject());
  return judged;
}

}  // namespace

TEST_CASE("allreduce_naive leaves the reduction on every rank, for every op") {
  expect_pass(verdict(), "values");
}

TEST_CASE("allreduce_naive receives every message as it was sent") {
  expect_pass(verdict(), "messages");
}

TEST_CASE("allreduce_naive costs 2(p-1)(α + nβ) + (p-1)nγ") { expect_pass(verdict(), "cost"); }

TEST_CASE(
    "allreduce_naive costs, on 8 ranks, with 24 elements: 14 steps, 1344 bytes, 672 reduced") {
  expect_cost(subject(), "world_size=8,count=24", {14, 1344, 672});
}

TEST_CASE("allreduce_naive depends neither on buffers nor on timing") {
  expect_pass(verdict(), "safety");
}

}  // namespace rankbox
