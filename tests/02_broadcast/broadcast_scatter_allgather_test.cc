#include "collectives/broadcast_scatter_allgather.h"

#include <doctest/doctest.h>

#include "collectives/cost.h"
#include "tests/support/expect.h"
#include "verdict/broadcast.h"
#include "verdict/judge.h"

namespace rankbox {

namespace {

const Broadcast& subject() {
  static const Broadcast made(broadcast_scatter_allgather, cost::broadcast_scatter_allgather);
  return made;
}

// One judgement, over all world sizes, counts and the rest, answers all of the questions below.
const Verdict& verdict() {
  static const Verdict judged = judge("broadcast_scatter_allgather", subject());
  return judged;
}

}  // namespace

TEST_CASE("broadcast_scatter_allgather gives every rank the tensor of any src") {
  expect_pass(verdict(), "values");
}

TEST_CASE("broadcast_scatter_allgather receives every message as it was sent") {
  expect_pass(verdict(), "messages");
}

TEST_CASE("broadcast_scatter_allgather costs (⌈log2 p⌉ + p-1)α + 2(p-1)/p nβ") {
  expect_pass(verdict(), "cost");
}

TEST_CASE(
    "broadcast_scatter_allgather costs, on 8 ranks, with 24 elements: 10 steps, 168 bytes, 0 "
    "reduced") {
  expect_cost(subject(), "world_size=8,count=24", {10, 168, 0});
}

TEST_CASE("broadcast_scatter_allgather depends neither on buffers nor on timing") {
  expect_pass(verdict(), "safety");
}

}  // namespace rankbox
