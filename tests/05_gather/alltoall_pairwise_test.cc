#include "collectives/alltoall_pairwise.h"

#include <doctest/doctest.h>

#include "collectives/cost_gather.h"
#include "tests/support/expect.h"
#include "verdict/alltoall.h"
#include "verdict/judge.h"

namespace rankbox {

namespace {

const AllToAll& subject() {
  static const AllToAll made(alltoall_pairwise, cost::alltoall_pairwise);
  return made;
}

// One judgement, over all world sizes, counts and the rest, answers all of the questions below.
const Verdict& verdict() {
  static const Verdict judged = judge("alltoall_pairwise", subject());
  return judged;
}

}  // namespace

TEST_CASE("alltoall_pairwise gives every rank the chunks that are meant for it") {
  expect_pass(verdict(), "values");
}

TEST_CASE("alltoall_pairwise receives every message as it was sent") {
  expect_pass(verdict(), "messages");
}

TEST_CASE("alltoall_pairwise costs (p-1)(α + nβ/p)") { expect_pass(verdict(), "cost"); }

TEST_CASE("alltoall_pairwise costs, on 8 ranks, with 24 elements: 7 steps, 84 bytes, 0 reduced") {
  expect_cost(subject(), "world_size=8,count=24", {7, 84, 0});
}

TEST_CASE("alltoall_pairwise depends neither on buffers nor on timing") {
  expect_pass(verdict(), "safety");
}

}  // namespace rankbox
