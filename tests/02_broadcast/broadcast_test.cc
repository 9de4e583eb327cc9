// Chapter 2, as an instructor would test it: values and costs that are worked out by hand, then the
// judge's rows. NAME_exercise_test runs a function's test cases on the learner's file.
#include <doctest/doctest.h>

#include "collectives/broadcast_naive.h"
#include "collectives/broadcast_ring.h"
#include "collectives/broadcast_ring_pipelined.h"
#include "collectives/broadcast_scatter_allgather.h"
#include "collectives/broadcast_tree.h"
#include "tests/support/judge_rows.h"
#include "tests/support/on_ranks.h"

namespace rankbox {

namespace {

using Broadcast = void (*)(Comm& dist, Tensor& tensor, int src);

/// What rank r begins with: r, r + 1, r + 2, …
Values beginning_of(int rank) {
  Values values(24);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(rank) + static_cast<float>(i);
  return values;
}

/// Returns a call of the function on these tensors.
auto broadcasting(Broadcast broadcast, int src) {
  return [=](Comm& dist) {
    Tensor tensor = from_host(beginning_of(dist.rank()));
    broadcast(dist, tensor, src);
    return to_host(tensor);
  };
}

void pipelined_in_three(Comm& dist, Tensor& tensor, int src) {
  broadcast_ring_pipelined(dist, tensor, src, 3);
}

/// Every src, in worlds of powers of two and between them.
void check_values(Broadcast broadcast) {
  for (const int p : {1, 2, 3, 4, 7, 8}) {
    CAPTURE(p);
    for (int src = 0; src < p; ++src)
      CHECK(on_ranks(p, broadcasting(broadcast, src)) == every(p, beginning_of(src)));
  }
}

constexpr double kBytes = 24 * sizeof(float);  // of a tensor

}  // namespace

TEST_CASE("broadcast_naive: judged") { judge_rows("broadcast_naive"); }

TEST_CASE("broadcast_naive: every rank ends with src's elements") { check_values(broadcast_naive); }

TEST_CASE("broadcast_naive: src sends p - 1 messages, one after the other") {
  CHECK(cost_of(8, broadcasting(broadcast_naive, 0)) == Cost{7, 7 * kBytes, 0});
  CHECK(cost_of(5, broadcasting(broadcast_naive, 3)) == Cost{4, 4 * kBytes, 0});
  CHECK(cost_of(1, broadcasting(broadcast_naive, 0)) == Cost{0, 0, 0});
}

TEST_CASE("broadcast_tree: judged") { judge_rows("broadcast_tree"); }

TEST_CASE("broadcast_tree: every rank ends with src's elements") { check_values(broadcast_tree); }

TEST_CASE("broadcast_tree: twice as many ranks have it each round") {
  CHECK(cost_of(2, broadcasting(broadcast_tree, 0)) == Cost{1, 1 * kBytes, 0});
  CHECK(cost_of(8, broadcasting(broadcast_tree, 0)) == Cost{3, 3 * kBytes, 0});
  CHECK(cost_of(8, broadcasting(broadcast_tree, 5)) == Cost{3, 3 * kBytes, 0});
  CHECK(cost_of(9, broadcasting(broadcast_tree, 0)) == Cost{4, 4 * kBytes, 0});
}

TEST_CASE("broadcast_ring: judged") { judge_rows("broadcast_ring"); }

TEST_CASE("broadcast_ring: every rank ends with src's elements") { check_values(broadcast_ring); }

TEST_CASE("broadcast_ring: the last rank waits for p - 1 messages") {
  CHECK(cost_of(8, broadcasting(broadcast_ring, 0)) == Cost{7, 7 * kBytes, 0});
  CHECK(cost_of(5, broadcasting(broadcast_ring, 4)) == Cost{4, 4 * kBytes, 0});
}

TEST_CASE("broadcast_ring_pipelined: judged") { judge_rows("broadcast_ring_pipelined"); }

TEST_CASE("broadcast_ring_pipelined: every rank ends with src's elements") {
  check_values(pipelined_in_three);
}

TEST_CASE("broadcast_ring_pipelined: p - 2 segments to fill the pipeline, then s") {
  // Of 8 ranks and 3 segments of 32 bytes: 6 + 3 messages of a segment.
  CHECK(cost_of(8, broadcasting(pipelined_in_three, 0)) == Cost{9, 3 * kBytes, 0});
  const auto in_segments = [](int segments) {
    return [=](Comm& dist) {
      Tensor tensor = zeros(24);
      broadcast_ring_pipelined(dist, tensor, 0, segments);
    };
  };
  CHECK(cost_of(8, in_segments(1)) == Cost{7, 7 * kBytes, 0});          // the ring
  CHECK(cost_of(8, in_segments(24)) == Cost{30, 30 * kBytes / 24, 0});  // 1.25 messages' bytes
}

TEST_CASE("broadcast_scatter_allgather: judged") { judge_rows("broadcast_scatter_allgather"); }

TEST_CASE("broadcast_scatter_allgather: every rank ends with src's elements") {
  check_values(broadcast_scatter_allgather);
}

TEST_CASE("broadcast_scatter_allgather: a tree of halves, then a ring of eighths") {
  // 4 + 2 + 1 eighths go down the tree, and 7 of one eighth around.
  CHECK(cost_of(8, broadcasting(broadcast_scatter_allgather, 0)) ==
        Cost{3 + 7, 14 * kBytes / 8, 0});
}

}  // namespace rankbox
