// Chapter 5, as an instructor would test it: values and costs that are worked out by hand, then the
// judge's rows. NAME_exercise_test runs a function's test cases on the learner's file.
#include <doctest/doctest.h>

#include "collectives/allgather_bruck.h"
#include "collectives/allgather_naive.h"
#include "collectives/allgather_ring.h"
#include "collectives/allgather_tree.h"
#include "collectives/alltoall_pairwise.h"
#include "collectives/gather_naive.h"
#include "collectives/gather_tree.h"
#include "collectives/reduce_scatter_ring.h"
#include "collectives/scatter_tree.h"
#include "tests/support/judge_rows.h"
#include "tests/support/on_ranks.h"

namespace rankbox {

namespace {

using Gather = void (*)(Comm& dist, const Tensor& tensor, Tensor& gathered, int dst);
using AllGather = void (*)(Comm& dist, const Tensor& tensor, Tensor& gathered);

constexpr double kBytes = 3 * sizeof(float);  // of a rank's tensor

/// Rank r has r three times.
Tensor beginning_of(int rank) { return full(3, static_cast<float>(rank)); }

/// 0, 0, 0, 1, 1, 1, …: the tensors of p ranks.
Values all_of(int p) {
  Values all;
  for (int rank = 0; rank < p; ++rank) all.insert(all.end(), 3, static_cast<float>(rank));
  return all;
}

auto gathering(Gather gather, int dst) {
  return [=](Comm& dist) {
    Tensor gathered = full(dist.rank() == dst ? 3 * dist.world_size() : 1, -1.0f);
    gather(dist, beginning_of(dist.rank()), gathered, dst);
    return to_host(gathered);
  };
}

auto gathering(AllGather all_gather) {
  return [=](Comm& dist) {
    Tensor gathered = zeros(3 * dist.world_size());
    all_gather(dist, beginning_of(dist.rank()), gathered);
    return to_host(gathered);
  };
}

/// dst ends with all tensors, and the others' `gathered` is left alone.
void check_values(Gather gather) {
  for (const int p : {1, 2, 3, 4, 7, 8}) {
    CAPTURE(p);
    for (int dst = 0; dst < p; ++dst) {
      std::vector<Values> expected = every(p, {-1});
      expected[static_cast<std::size_t>(dst)] = all_of(p);
      CHECK(on_ranks(p, gathering(gather, dst)) == expected);
    }
  }
}

void check_values(AllGather all_gather) {
  for (const int p : {1, 2, 3, 4, 7, 8}) {
    CAPTURE(p);
    CHECK(on_ranks(p, gathering(all_gather)) == every(p, all_of(p)));
  }
}

auto scattering(int src) {
  return [=](Comm& dist) {
    const Tensor whole = dist.rank() == src ? from_host(all_of(dist.world_size())) : zeros(1);
    Tensor piece = zeros(3);
    scatter_tree(dist, whole, piece, src);
    return to_host(piece);
  };
}

/// Every rank has 0, 1, 2, … of 24 elements.
Tensor counted() {
  Values values(24);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return from_host(values);
}

Values reduce_scattering(Comm& dist) {
  Tensor tensor = counted();
  Tensor piece = zeros(chunk(tensor, dist.rank(), dist.world_size()).size());
  reduce_scatter_ring(dist, tensor, piece, ReduceOp::SUM);
  return to_host(piece);
}

/// Rank s sends 10 s + d to rank d.
Values exchanging_all(Comm& dist) {
  Values input;
  for (int d = 0; d < dist.world_size(); ++d)
    input.push_back(static_cast<float>(10 * dist.rank() + d));
  Tensor output = zeros(dist.world_size());
  alltoall_pairwise(dist, from_host(input), output);
  return to_host(output);
}

}  // namespace

TEST_CASE("gather_naive: judged") { judge_rows("gather_naive"); }

TEST_CASE("gather_naive: dst ends with every rank's tensor") { check_values(gather_naive); }

TEST_CASE("gather_naive: p - 1 messages, one after the other") {
  CHECK(cost_of(8, gathering(gather_naive, 0)) == Cost{7, 7 * kBytes, 0});
}

TEST_CASE("gather_tree: judged") { judge_rows("gather_tree"); }

TEST_CASE("gather_tree: dst ends with every rank's tensor") { check_values(gather_tree); }

TEST_CASE("gather_tree: the same bytes in three messages, of 1, 2 and 4 tensors") {
  CHECK(cost_of(8, gathering(gather_tree, 0)) == Cost{3, (1 + 2 + 4) * kBytes, 0});
  CHECK(cost_of(6, gathering(gather_tree, 4)) == Cost{3, 5 * kBytes, 0});
}

TEST_CASE("scatter_tree: judged") { judge_rows("scatter_tree"); }

TEST_CASE("scatter_tree: rank r ends with the r-th piece") {
  for (int src = 0; src < 3; ++src)
    CHECK(on_ranks(3, scattering(src)) == std::vector<Values>{{0, 0, 0}, {1, 1, 1}, {2, 2, 2}});
}

TEST_CASE("scatter_tree: 4, 2 and 1 pieces go down the tree") {
  CHECK(cost_of(8, scattering(0)) == Cost{3, (4 + 2 + 1) * kBytes, 0});
}

TEST_CASE("allgather_naive: judged") { judge_rows("allgather_naive"); }

TEST_CASE("allgather_naive: every rank ends with every tensor") { check_values(allgather_naive); }

TEST_CASE("allgather_naive: 7 tensors to one rank, and then 7 messages of all 8 from it") {
  CHECK(cost_of(8, gathering(allgather_naive)) == Cost{7 + 7, (7 + 7 * 8) * kBytes, 0});
}

TEST_CASE("allgather_tree: judged") { judge_rows("allgather_tree"); }

TEST_CASE("allgather_tree: every rank ends with every tensor") { check_values(allgather_tree); }

TEST_CASE("allgather_tree: up the tree it grows, down the tree go all 8 tensors") {
  CHECK(cost_of(8, gathering(allgather_tree)) == Cost{3 + 3, (7 + 3 * 8) * kBytes, 0});
}

TEST_CASE("allgather_ring: judged") { judge_rows("allgather_ring"); }

TEST_CASE("allgather_ring: every rank ends with every tensor") { check_values(allgather_ring); }

TEST_CASE("allgather_ring: 7 messages of one tensor") {
  CHECK(cost_of(8, gathering(allgather_ring)) == Cost{7, 7 * kBytes, 0});
}

TEST_CASE("allgather_bruck: judged") { judge_rows("allgather_bruck"); }

TEST_CASE("allgather_bruck: every rank ends with every tensor") { check_values(allgather_bruck); }

TEST_CASE("allgather_bruck: 3 messages, of 1, 2 and 4 tensors") {
  CHECK(cost_of(8, gathering(allgather_bruck)) == Cost{3, (1 + 2 + 4) * kBytes, 0});
  CHECK(cost_of(6, gathering(allgather_bruck)) == Cost{3, (1 + 2 + 2) * kBytes, 0});
}

TEST_CASE("reduce_scatter_ring: judged") { judge_rows("reduce_scatter_ring"); }

TEST_CASE("reduce_scatter_ring: rank r ends with the r-th chunk of the sum") {
  const std::vector<Values> after = on_ranks(8, reduce_scattering);
  CHECK(after.front() == Values{0, 8, 16});
  CHECK(after.back() == Values{8 * 21, 8 * 22, 8 * 23});
}

TEST_CASE("reduce_scatter_ring: 7 messages of an eighth, each of which is added") {
  CHECK(cost_of(8, reduce_scattering) == Cost{7, 7 * kBytes, 7 * kBytes});
}

TEST_CASE("alltoall_pairwise: judged") { judge_rows("alltoall_pairwise"); }

TEST_CASE("alltoall_pairwise: rank d has what every rank sent it, in their order") {
  CHECK(on_ranks(3, exchanging_all) == std::vector<Values>{{0, 10, 20}, {1, 11, 21}, {2, 12, 22}});
}

TEST_CASE("alltoall_pairwise: in each of p - 1 rounds every rank has one partner") {
  CHECK(cost_of(8, exchanging_all) == Cost{7, 7 * sizeof(float), 0});
}

}  // namespace rankbox
