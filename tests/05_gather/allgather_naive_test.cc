#include "collectives/allgather_naive.h"

#include <doctest/doctest.h>

#include "collectives/cost_gather.h"
#include "tests/support/expect.h"
#include "verdict/allgather.h"
#include "verdict/judge.h"

namespace rankbox {

namespace {

const AllGather& subject() {
  static const AllGather made(allgather_naive, cost::allgather_naive);
  return made;
}

// One judgement, over all world sizes, counts and the rest, answers all of the questions below.
const Verdict& verdict() {
  static const Verdict judged = judge("allgather_naive", subject());
  return judged;
}

}  // namespace

TEST_CASE("allgather_naive collects all tensors on every rank in rank order") {
  expect_pass(verdict(), "values");
}

TEST_CASE("allgather_naive receives every message as it was sent") {
  expect_pass(verdict(), "messages");
}

TEST_CASE("allgather_naive costs 2(p-1)α + (p-1)(p+1)nβ") { expect_pass(verdict(), "cost"); }

TEST_CASE("allgather_naive costs, on 8 ranks, with 24 elements: 14 steps, 6048 bytes, 0 reduced") {
  expect_cost(subject(), "world_size=8,count=24", {14, 6048, 0});
}

TEST_CASE("allgather_naive depends neither on buffers nor on timing") {
  expect_pass(verdict(), "safety");
}

}  // namespace rankbox
