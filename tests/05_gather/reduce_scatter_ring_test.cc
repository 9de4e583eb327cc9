#include "collectives/reduce_scatter_ring.h"

#include <doctest/doctest.h>

#include "collectives/cost_gather.h"
#include "tests/support/expect.h"
#include "verdict/judge.h"
#include "verdict/reduce_scatter.h"

namespace rankbox {

namespace {

const ReduceScatter& subject() {
  static const ReduceScatter made(reduce_scatter_ring, cost::reduce_scatter_ring);
  return made;
}

// One judgement, over all world sizes, counts and the rest, answers all of the questions below.
const Verdict& verdict() {
  static const Verdict judged = judge("reduce_scatter_ring", subject());
  return judged;
}

}  // namespace

TEST_CASE("reduce_scatter_ring leaves on every rank its chunk of the reduction") {
  expect_pass(verdict(), "values");
}

TEST_CASE("reduce_scatter_ring receives every message as it was sent") {
  expect_pass(verdict(), "messages");
}

TEST_CASE("reduce_scatter_ring costs (p-1)(α + nβ/p + nγ/p)") { expect_pass(verdict(), "cost"); }

TEST_CASE(
    "reduce_scatter_ring costs, on 8 ranks, with 24 elements: 7 steps, 84 bytes, 84 reduced") {
  expect_cost(subject(), "world_size=8,count=24", {7, 84, 84});
}

TEST_CASE("reduce_scatter_ring depends neither on buffers nor on timing") {
  expect_pass(verdict(), "safety");
}

}  // namespace rankbox
