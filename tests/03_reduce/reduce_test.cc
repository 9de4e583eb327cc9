// Chapter 3, as an instructor would test it: values and costs that are worked out by hand, then the
// judge's rows. NAME_exercise_test runs a function's test cases on the learner's file.
#include <doctest/doctest.h>

#include "collectives/reduce_naive.h"
#include "collectives/reduce_scatter_gather.h"
#include "collectives/reduce_tree.h"
#include "tests/support/judge_rows.h"
#include "tests/support/on_ranks.h"

namespace rankbox {

namespace {

using Reduce = void (*)(Comm& dist, Tensor& tensor, int dst, ReduceOp op);

/// Returns a call of the function in which rank r has r + 1 in each of 24 elements.
auto reducing(Reduce reduce, int dst, ReduceOp op = ReduceOp::SUM) {
  return [=](Comm& dist) {
    Tensor tensor = full(24, static_cast<float>(dist.rank() + 1));
    reduce(dist, tensor, dst, op);
    return to_host(tensor);
  };
}

/// Returns what dst has afterwards. The others' tensors are lost.
Values result(Reduce reduce, int p, int dst, ReduceOp op) {
  return on_ranks(p, reducing(reduce, dst, op))[static_cast<std::size_t>(dst)];
}

void check_values(Reduce reduce) {
  for (const int p : {1, 2, 3, 4, 7, 8}) {
    CAPTURE(p);
    for (int dst = 0; dst < p; ++dst)
      CHECK(result(reduce, p, dst, ReduceOp::SUM) ==
            Values(24, static_cast<float>(p * (p + 1) / 2)));
  }
  CHECK(result(reduce, 4, 1, ReduceOp::PRODUCT) == Values(24, 1 * 2 * 3 * 4));
  CHECK(result(reduce, 5, 4, ReduceOp::MAX) == Values(24, 5));
  CHECK(result(reduce, 5, 4, ReduceOp::MIN) == Values(24, 1));
  CHECK(result(reduce, 4, 0, ReduceOp::AVG) == Values(24, 2.5));
}

constexpr double kBytes = 24 * sizeof(float);  // of a tensor

}  // namespace

TEST_CASE("reduce_naive: judged") { judge_rows("reduce_naive"); }

TEST_CASE("reduce_naive: dst ends with the reduction of all ranks") { check_values(reduce_naive); }

TEST_CASE("reduce_naive: dst receives and adds p - 1 tensors, one after the other") {
  CHECK(cost_of(8, reducing(reduce_naive, 0)) == Cost{7, 7 * kBytes, 7 * kBytes});
  CHECK(cost_of(5, reducing(reduce_naive, 3)) == Cost{4, 4 * kBytes, 4 * kBytes});
}

TEST_CASE("reduce_tree: judged") { judge_rows("reduce_tree"); }

TEST_CASE("reduce_tree: dst ends with the reduction of all ranks") { check_values(reduce_tree); }

TEST_CASE("reduce_tree: half of the ranks are left after each round") {
  CHECK(cost_of(8, reducing(reduce_tree, 0)) == Cost{3, 3 * kBytes, 3 * kBytes});
  CHECK(cost_of(8, reducing(reduce_tree, 5)) == Cost{3, 3 * kBytes, 3 * kBytes});
  CHECK(cost_of(9, reducing(reduce_tree, 0)) == Cost{4, 4 * kBytes, 4 * kBytes});
}

TEST_CASE("reduce_scatter_gather: judged") { judge_rows("reduce_scatter_gather"); }

TEST_CASE("reduce_scatter_gather: dst ends with the reduction of all ranks") {
  check_values(reduce_scatter_gather);
}

TEST_CASE("reduce_scatter_gather: halves, quarters and eighths are added, then collected") {
  // 1/2 + 1/4 + 1/8 of the tensor, there with additions and back without.
  CHECK(cost_of(8, reducing(reduce_scatter_gather, 0)) ==
        Cost{3 + 3, 2 * 7 * kBytes / 8, 7 * kBytes / 8});
  // The ninth rank hands its tensor over first.
  CHECK(cost_of(9, reducing(reduce_scatter_gather, 0)) ==
        Cost{1 + 3 + 3, kBytes + 2 * 7 * kBytes / 8, kBytes + 7 * kBytes / 8});
}

}  // namespace rankbox
