#include "collectives/reduce_naive.h"

#include <doctest/doctest.h>

#include "collectives/cost.h"
#include "tests/support/expect.h"
#include "verdict/judge.h"
#include "verdict/reduce.h"

namespace rankbox {

namespace {

const Reduce& subject() {
  static const Reduce made(reduce_naive, cost::reduce_naive);
  return made;
}

// One judgement, over all world sizes, counts and the rest, answers all of the questions below.
const Verdict& verdict() {
  static const Verdict judged = judge("reduce_naive", subject());
  return judged;
}

}  // namespace

TEST_CASE("reduce_naive leaves the reduction on any dst, for every op") {
  expect_pass(verdict(), "values");
}

TEST_CASE("reduce_naive receives every message as it was sent") {
  expect_pass(verdict(), "messages");
}

TEST_CASE("reduce_naive costs (p-1)(α + nβ + nγ)") { expect_pass(verdict(), "cost"); }

TEST_CASE("reduce_naive costs, on 8 ranks, with 24 elements: 7 steps, 672 bytes, 672 reduced") {
  expect_cost(subject(), "world_size=8,count=24", {7, 672, 672});
}

TEST_CASE("reduce_naive depends neither on buffers nor on timing") {
  expect_pass(verdict(), "safety");
}

}  // namespace rankbox
