#include "collectives/allgather_ring.h"

#include <doctest/doctest.h>

#include "collectives/cost_gather.h"
#include "tests/support/expect.h"
#include "verdict/allgather.h"
#include "verdict/judge.h"

namespace rankbox {

namespace {

const AllGather& subject() {
  static const AllGather made(allgather_ring, cost::allgather_ring);
  return made;
}

// One judgement, over all world sizes, counts and the rest, answers all of the questions below.
const Verdict& verdict() {
  static const Verdict judged = judge("allgather_ring", subject());
  return judged;
}

}  // namespace

TEST_CASE("allgather_ring collects all tensors on every rank in rank order") {
  expect_pass(verdict(), "values");
}

TEST_CASE("allgather_ring receives every message as it was sent") {
  expect_pass(verdict(), "messages");
}

TEST_CASE("allgather_ring costs (p-1)(α + nβ)") { expect_pass(verdict(), "cost"); }

TEST_CASE("allgather_ring costs, on 8 ranks, with 24 elements: 7 steps, 672 bytes, 0 reduced") {
  expect_cost(subject(), "world_size=8,count=24", {7, 672, 0});
}

TEST_CASE("allgather_ring depends neither on buffers nor on timing") {
  expect_pass(verdict(), "safety");
}

}  // namespace rankbox
