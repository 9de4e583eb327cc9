#include "collectives/allgather_tree.h"

#include <doctest/doctest.h>

#include "collectives/cost_gather.h"
#include "tests/support/expect.h"
#include "verdict/allgather.h"
#include "verdict/judge.h"

namespace rankbox {

namespace {

const AllGather& subject() {
  static const AllGather made(allgather_tree, cost::allgather_tree);
  return made;
}

// One judgement, over all world sizes, counts and the rest, answers all of the questions below.
const Verdict& verdict() {
  static const Verdict judged = judge("allgather_tree", subject());
  return judged;
}

}  // namespace

TEST_CASE("allgather_tree collects all tensors on every rank in rank order") {
  expect_pass(verdict(), "values");
}

TEST_CASE("allgather_tree receives every message as it was sent") {
  expect_pass(verdict(), "messages");
}

TEST_CASE("allgather_tree costs 2⌈log2 p⌉α + (p-1 + p⌈log2 p⌉)nβ") {
  expect_pass(verdict(), "cost");
}

TEST_CASE("allgather_tree costs, on 8 ranks, with 24 elements: 6 steps, 2976 bytes, 0 reduced") {
  expect_cost(subject(), "world_size=8,count=24", {6, 2976, 0});
}

TEST_CASE("allgather_tree depends neither on buffers nor on timing") {
  expect_pass(verdict(), "safety");
}

}  // namespace rankbox
