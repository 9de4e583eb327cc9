// Chapter 4, as an instructor would test it: values and costs that are worked out by hand, then the
// judge's rows. NAME_exercise_test runs a function's test cases on the learner's file.
#include <doctest/doctest.h>

#include "collectives/allreduce_butterfly.h"
#include "collectives/allreduce_double_tree.h"
#include "collectives/allreduce_hierarchical.h"
#include "collectives/allreduce_naive.h"
#include "collectives/allreduce_rabenseifner.h"
#include "collectives/allreduce_ring.h"
#include "collectives/allreduce_ring_segmented.h"
#include "collectives/allreduce_tree.h"
#include "collectives/node_grid.h"
#include "tests/support/judge_rows.h"
#include "tests/support/on_ranks.h"

namespace rankbox {

namespace {

using AllReduce = void (*)(Comm& dist, Tensor& tensor, ReduceOp op);

/// Returns a call of the function in which rank r has r + 1 in each of 24 elements.
auto reducing(AllReduce all_reduce, ReduceOp op = ReduceOp::SUM) {
  return [=](Comm& dist) {
    Tensor tensor = full(24, static_cast<float>(dist.rank() + 1));
    all_reduce(dist, tensor, op);
    return to_host(tensor);
  };
}

void in_three_segments(Comm& dist, Tensor& tensor, ReduceOp op) {
  allreduce_ring_segmented(dist, tensor, op, 3);
}

void two_trees(Comm& dist, Tensor& tensor, ReduceOp op) {
  allreduce_double_tree(dist, tensor, op, 3);
}

void on_a_grid(Comm& dist, Tensor& tensor, ReduceOp op) {
  NodeGrid grid = split_by_node(dist);
  allreduce_hierarchical(grid.node, grid.counterparts, tensor, op);
}

void check_values(AllReduce all_reduce) {
  for (const int p : {1, 2, 3, 4, 7, 8}) {
    CAPTURE(p);
    CHECK(on_ranks(p, reducing(all_reduce)) ==
          every(p, Values(24, static_cast<float>(p * (p + 1) / 2))));
  }
  CHECK(on_ranks(4, reducing(all_reduce, ReduceOp::PRODUCT)) ==
        every(4, Values(24, 1 * 2 * 3 * 4)));
  CHECK(on_ranks(5, reducing(all_reduce, ReduceOp::MAX)) == every(5, Values(24, 5)));
  CHECK(on_ranks(5, reducing(all_reduce, ReduceOp::MIN)) == every(5, Values(24, 1)));
  CHECK(on_ranks(4, reducing(all_reduce, ReduceOp::AVG)) == every(4, Values(24, 2.5)));
}

constexpr double kBytes = 24 * sizeof(float);  // of a tensor

}  // namespace

TEST_CASE("allreduce_naive: judged") { judge_rows("allreduce_naive"); }

TEST_CASE("allreduce_naive: every rank ends with the reduction") { check_values(allreduce_naive); }

TEST_CASE("allreduce_naive: p - 1 tensors to one rank, and as many back") {
  CHECK(cost_of(8, reducing(allreduce_naive)) == Cost{14, 14 * kBytes, 7 * kBytes});
  CHECK(cost_of(1, reducing(allreduce_naive)) == Cost{0, 0, 0});
}

TEST_CASE("allreduce_tree: judged") { judge_rows("allreduce_tree"); }

TEST_CASE("allreduce_tree: every rank ends with the reduction") { check_values(allreduce_tree); }

TEST_CASE("allreduce_tree: up the tree and down again") {
  CHECK(cost_of(8, reducing(allreduce_tree)) == Cost{3 + 3, 6 * kBytes, 3 * kBytes});
  CHECK(cost_of(9, reducing(allreduce_tree)) == Cost{4 + 4, 8 * kBytes, 4 * kBytes});
}

TEST_CASE("allreduce_butterfly: judged") { judge_rows("allreduce_butterfly"); }

TEST_CASE("allreduce_butterfly: every rank ends with the reduction") {
  check_values(allreduce_butterfly);
}

TEST_CASE("allreduce_butterfly: partners swap whole tensors, at distances 1, 2, 4") {
  CHECK(cost_of(8, reducing(allreduce_butterfly)) == Cost{3, 3 * kBytes, 3 * kBytes});
  // The ninth rank hands its tensor over first, and gets the sum at the end.
  CHECK(cost_of(9, reducing(allreduce_butterfly)) == Cost{5, 5 * kBytes, 4 * kBytes});
}

TEST_CASE("allreduce_ring: judged") { judge_rows("allreduce_ring"); }

TEST_CASE("allreduce_ring: every rank ends with the reduction") { check_values(allreduce_ring); }

TEST_CASE("allreduce_ring: fewer than two tensors' bytes, whatever p") {
  CHECK(cost_of(2, reducing(allreduce_ring)) == Cost{2, 2 * kBytes / 2, kBytes / 2});
  CHECK(cost_of(8, reducing(allreduce_ring)) == Cost{14, 14 * kBytes / 8, 7 * kBytes / 8});
  CHECK(cost_of(24, reducing(allreduce_ring)) == Cost{46, 46 * kBytes / 24, 23 * kBytes / 24});
  // Seven chunks of 24 elements: the largest has four, and takes part in every step.
  CHECK(cost_of(7, reducing(allreduce_ring)) == Cost{12, 12 * 4 * 4.0, 6 * 4 * 4.0});
}

TEST_CASE("allreduce_ring_segmented: judged") { judge_rows("allreduce_ring_segmented"); }

TEST_CASE("allreduce_ring_segmented: every rank ends with the reduction") {
  check_values(in_three_segments);
}

TEST_CASE("allreduce_ring_segmented: the ring's bytes, in three times as many messages") {
  CHECK(cost_of(8, reducing(in_three_segments)) == Cost{3 * 14, 14 * kBytes / 8, 7 * kBytes / 8});
}

TEST_CASE("allreduce_rabenseifner: judged") { judge_rows("allreduce_rabenseifner"); }

TEST_CASE("allreduce_rabenseifner: every rank ends with the reduction") {
  check_values(allreduce_rabenseifner);
}

TEST_CASE("allreduce_rabenseifner: the ring's bytes in a tree's number of messages") {
  CHECK(cost_of(8, reducing(allreduce_rabenseifner)) ==
        Cost{3 + 3, 2 * 7 * kBytes / 8, 7 * kBytes / 8});
  CHECK(cost_of(9, reducing(allreduce_rabenseifner)) ==
        Cost{1 + 6 + 1, 2 * kBytes + 2 * 7 * kBytes / 8, kBytes + 7 * kBytes / 8});
}

TEST_CASE("allreduce_double_tree: judged") { judge_rows("allreduce_double_tree"); }

TEST_CASE("allreduce_double_tree: every rank ends with the reduction") { check_values(two_trees); }

TEST_CASE("allreduce_double_tree: of two ranks, each is the root of one half") {
  // Three segments of each half go up, and three down: in both directions at once.
  CHECK(cost_of(2, reducing(two_trees)) == Cost{6, 6 * kBytes / 6, 3 * kBytes / 6});
}

TEST_CASE("allreduce_hierarchical: judged") { judge_rows("allreduce_hierarchical"); }

TEST_CASE("allreduce_hierarchical: every rank ends with the reduction") {
  for (const int nodes : {1, 2, 3, 6}) {
    CAPTURE(nodes);
    CHECK(on_ranks(6, reducing(on_a_grid), nodes) == every(6, Values(24, 21)));
  }
}

TEST_CASE(
    "allreduce_hierarchical: between nodes goes a quarter of the tensor, twice a half of it") {
  // Three splits of 8 ranks, of 3 steps each. Then a ring of 4 within the node, there and back; two
  // ranks between nodes swap halves of a quarter.
  CHECK(cost_of(8, reducing(on_a_grid), 2) ==
        Cost{3 * 3 + 2 * 3 + 2, 2 * 3 * kBytes / 4 + 2 * kBytes / 8, 3 * kBytes / 4 + kBytes / 8});
}

}  // namespace rankbox
