#include "collectives/reduce_scatter_gather.h"

#include <doctest/doctest.h>

#include "collectives/cost.h"
#include "tests/support/expect.h"
#include "verdict/judge.h"
#include "verdict/reduce.h"

namespace rankbox {

namespace {

const Reduce& subject() {
  static const Reduce made(reduce_scatter_gather, cost::reduce_scatter_gather);
  return made;
}

// One judgement, over all world sizes, counts and the rest, answers all of the questions below.
const Verdict& verdict() {
  static const Verdict judged = judge("reduce_scatter_gather", subject());
  return judged;
}

}  // namespace

TEST_CASE("reduce_scatter_gather leaves the reduction on any dst, for every op") {
  expect_pass(verdict(), "values");
}

TEST_CASE("reduce_scatter_gather receives every message as it was sent") {
  expect_pass(verdict(), "messages");
}

TEST_CASE("reduce_scatter_gather costs 2 log2 p α + 2(p-1)/p nβ + (p-1)/p nγ") {
  expect_pass(verdict(), "cost");
}

TEST_CASE(
    "reduce_scatter_gather costs, on 8 ranks, with 24 elements: 6 steps, 168 bytes, 84 reduced") {
  expect_cost(subject(), "world_size=8,count=24", {6, 168, 84});
}

TEST_CASE("reduce_scatter_gather depends neither on buffers nor on timing") {
  expect_pass(verdict(), "safety");
}

}  // namespace rankbox
