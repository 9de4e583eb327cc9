#include "collectives/gather_naive.h"

#include <doctest/doctest.h>

#include "collectives/cost_gather.h"
#include "tests/support/expect.h"
#include "verdict/gather.h"
#include "verdict/judge.h"

namespace rankbox {

namespace {

const Gather& subject() {
  static const Gather made(gather_naive, cost::gather_naive);
  return made;
}

// One judgement, over all world sizes, counts and the rest, answers all of the questions below.
const Verdict& verdict() {
  static const Verdict judged = judge("gather_naive", subject());
  return judged;
}

}  // namespace

TEST_CASE("gather_naive collects all tensors on any dst in rank order") {
  expect_pass(verdict(), "values");
}

TEST_CASE("gather_naive receives every message as it was sent") {
  expect_pass(verdict(), "messages");
}

TEST_CASE("gather_naive costs (p-1)(α + nβ)") { expect_pass(verdict(), "cost"); }

TEST_CASE("gather_naive costs, on 8 ranks, with 24 elements: 7 steps, 672 bytes, 0 reduced") {
  expect_cost(subject(), "world_size=8,count=24", {7, 672, 0});
}

TEST_CASE("gather_naive depends neither on buffers nor on timing") {
  expect_pass(verdict(), "safety");
}

}  // namespace rankbox
