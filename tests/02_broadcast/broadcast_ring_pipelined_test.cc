#include "collectives/broadcast_ring_pipelined.h"

#include <doctest/doctest.h>

#include "collectives/cost.h"
#include "tests/support/expect.h"
#include "verdict/broadcast.h"
#include "verdict/judge.h"

namespace rankbox {

namespace {

const SegmentedBroadcast& subject() {
  static const SegmentedBroadcast made(broadcast_ring_pipelined, cost::broadcast_ring_pipelined);
  return made;
}

// One judgement, over all world sizes, counts and the rest, answers all of the questions below.
const Verdict& verdict() {
  static const Verdict judged = judge("broadcast_ring_pipelined", subject());
  return judged;
}

}  // namespace

TEST_CASE("broadcast_ring_pipelined gives every rank the tensor of any src") {
  expect_pass(verdict(), "values");
}

TEST_CASE("broadcast_ring_pipelined receives every message as it was sent") {
  expect_pass(verdict(), "messages");
}

TEST_CASE("broadcast_ring_pipelined costs (p+s-2)(α + nβ/s)") { expect_pass(verdict(), "cost"); }

TEST_CASE(
    "broadcast_ring_pipelined costs, on 8 ranks, with 24 elements: 9 steps, 288 bytes, 0 reduced") {
  expect_cost(subject(), "world_size=8,count=24,segments=3", {9, 288, 0});
}

TEST_CASE("broadcast_ring_pipelined depends neither on buffers nor on timing") {
  expect_pass(verdict(), "safety");
}

}  // namespace rankbox
