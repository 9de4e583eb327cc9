// Chapter 10, as an instructor would test it: values and costs that are worked out by hand, then
// the judge's rows. NAME_exercise_test runs a function's test cases on the learner's file.
#include <cmath>
#include <set>
#include <utility>

#include <doctest/doctest.h>

#include "parallel/column_linear.h"
#include "parallel/conjugate_f.h"
#include "parallel/conjugate_g.h"
#include "parallel/dropout_seeds.h"
#include "parallel/layer_shards.h"
#include "parallel/parallel_attention.h"
#include "parallel/parallel_mlp.h"
#include "parallel/row_linear.h"
#include "parallel/sequence_parallel.h"
#include "parallel/vocab_parallel_cross_entropy.h"
#include "tests/support/judge_rows.h"
#include "tests/support/on_ranks.h"
#include "training/layers/dropout.h"
#include "training/layers/relu.h"

namespace rankbox {

namespace {

using Conjugate = void (*)(Comm& dist, Direction direction, Tensor& tensor);
using Mlp = void (*)(Comm& dist, ParallelMlp& shard, Direction direction, Tensor& tensor,
                     Saved& saved);

/// Returns a call of the function in which rank r has r + 1 twice.
auto passing(Conjugate conjugate, Direction direction) {
  return [=](Comm& dist) {
    Tensor tensor = full(2, static_cast<float>(dist.rank() + 1));
    conjugate(dist, direction, tensor);
    return to_host(tensor);
  };
}

/// Calls call(direction, tensor, saved) with x forward, and with dy backward.
/// Returns y, dx, and the gradients of the parameters.
template <class Call>
std::vector<Values> there_and_back(Tensor x, Tensor dy, const std::vector<Parameter*>& parameters,
                                   Call call) {
  Saved saved;
  call(Direction::kForward, x, saved);
  call(Direction::kBackward, dy, saved);
  std::vector<Values> all = {to_host(x), to_host(dy)};
  for (const Parameter* parameter : parameters) all.push_back(to_host(parameter->gradient));
  return all;
}

// 1. A linear layer of four inputs and two outputs, on two ranks.
//
//   x = (1 0 0 1)    W = (1 2 3 4)    b = (10 20)    y = x Wᵀ + b = (15 33)
//                        (5 6 7 8)
//   dy = (1 10)      dx = dy W = (51 62 73 84)       dW = dyᵀ x = ( 1 0 0  1)    db = dy
//                                                                 (10 0 0 10)

Linear whole_layer() {
  return {from_host(Values{1, 2, 3, 4, 5, 6, 7, 8}, {2, 4}), from_host(Values{10, 20})};
}
Tensor whole_x() { return from_host(Values{1, 0, 0, 1}, {1, 4}); }
Tensor whole_dy() { return from_host(Values{1, 10}, {1, 2}); }

std::vector<Values> by_columns(Comm& dist) {
  const int r = dist.rank(), p = dist.world_size();
  Linear shard = column_shard(whole_layer(), r, p);
  return there_and_back(whole_x(), column_part(whole_dy(), r, p), shard.parameters(),
                        [&](Direction direction, Tensor& tensor, Saved& saved) {
                          column_linear(dist, shard, direction, tensor, saved);
                        });
}

std::vector<Values> by_rows(Comm& dist) {
  const int r = dist.rank(), p = dist.world_size();
  const Linear whole = whole_layer();
  Linear shard = row_shard(whole, r, p);
  Parameter bias = whole.bias;
  return there_and_back(column_part(whole_x(), r, p), whole_dy(), {&shard.weight, &bias},
                        [&](Direction direction, Tensor& tensor, Saved& saved) {
                          row_linear(dist, shard, bias, direction, tensor, saved);
                        });
}

// 2. An MLP of two inputs, two hidden units, ReLU and one output, on two ranks and two rows.
//
//   x = ( 1 1)    W₁ = (1  2)    x W₁ᵀ = (3  2)    ReLU    (3 2)    W₂ = (10 100)    y = (1230)
//       (-1 1)         (3 -1)            (1 -4)            (1 0)    b₂ = 1000            (1010)
//
//   dy = (1)      dy W₂ = (10 100)    ReLU    (10 100)    times W₁    dx = (310 -80)
//        (2)              (20 200)            (20   0)                     ( 20  40)

Tensor mlp_x() { return from_host(Values{1, 1, -1, 1}, {2, 2}); }
Tensor mlp_dy() { return from_host(Values{1, 2}, {2, 1}); }

std::vector<Values> in_mlp(Comm& dist, Mlp function, Tensor x, Tensor dy) {
  const int r = dist.rank(), p = dist.world_size();
  const Linear fc1(from_host(Values{1, 2, 3, -1}, {2, 2}), zeros(2));
  const Linear fc2(from_host(Values{10, 100}, {1, 2}), full(1, 1000));
  Linear own_fc1 = column_shard(fc1, r, p);
  Relu relu;
  Linear own_fc2 = row_shard(fc2, r, p);
  Parameter bias = fc2.bias;
  ParallelMlp shard = {own_fc1, relu, own_fc2, bias};
  return there_and_back(std::move(x), std::move(dy), shard.parameters(),
                        [&](Direction direction, Tensor& tensor, Saved& saved) {
                          function(dist, shard, direction, tensor, saved);
                        });
}

std::vector<Values> with_all_rows(Comm& dist) {
  return in_mlp(dist, parallel_mlp, mlp_x(), mlp_dy());
}

std::vector<Values> with_own_rows(Comm& dist) {
  const int r = dist.rank(), p = dist.world_size();
  return in_mlp(dist, sequence_parallel, row_part(mlp_x(), r, p), row_part(mlp_dy(), r, p));
}

// 3. Attention with two heads of width 1, on two ranks and a text of two tokens, x = dy = (1 3).
//
// Of both heads q = 0 and k = x: a token's scores are equal, and its weights 1/2.
//
//   head 0   v = x = (1 3)        mean 2     W = 1     dv = (1 + 3) / 2     = 2
//   head 1   v = 10 x = (10 30)   mean 20    W = 2     dv = 2 (1 + 3) / 2   = 4
//
//   y = 1 * 2 + 2 * 20 + 100 = 142 for both tokens, and dx = 1 * 2 + 10 * 4 = 42
//
// Since q = 0, dk = 0. The derivatives by token i's scores are dy_i W (v - mean) / 2. Times k, they
// are dq: dy_i (-1/2 + 3/2) = dy_i in head 0, and dy_i (-10 + 30) = 20 dy_i in head 1.

std::vector<Values> in_attention(Comm& dist) {
  const int r = dist.rank(), p = dist.world_size();
  const Linear qkv(from_host(Values{0, 1, 1, 0, 1, 10}, {6, 1}), zeros(6));
  const Linear out(from_host(Values{1, 2}, {1, 2}), full(1, 100));
  Linear own_qkv = column_shard(qkv, r, p);
  Linear own_out = row_shard(out, r, p);
  Parameter bias = out.bias;
  ParallelAttention shard = {own_qkv, own_out, bias, 2};
  const Tensor x = from_host(Values{1, 3}, {1, 2, 1});
  return there_and_back(clone(x), clone(x), shard.parameters(),
                        [&](Direction direction, Tensor& tensor, Saved& saved) {
                          parallel_attention(dist, shard, direction, tensor, saved);
                        });
}

// 4. Logits of four classes, on two ranks. In the first row two are the largest, in the second all
// are the same, and the third has no label.

Loss loss_of_halves(Comm& dist) {
  const Tensor logits = from_host(Values{1000, 1000, 0, 0, 0, 0, 0, 0, 5, 6, 7, 8}, {3, 4});
  const std::vector<std::int32_t> labels = {0, 3, kIgnoredLabel};
  Loss loss;
  vocab_parallel_cross_entropy(dist, column_part(logits, dist.rank(), dist.world_size()), 4, labels,
                               loss);
  return loss;
}

Values gradient_of_halves(Comm& dist) { return to_host(loss_of_halves(dist).gradient); }

}  // namespace

TEST_CASE("conjugate_f: judged") { judge_rows("conjugate_f"); }

TEST_CASE("conjugate_f: forward nothing changes, backward the ranks' tensors are added up") {
  CHECK(on_ranks(3, passing(conjugate_f, Direction::kForward)) ==
        std::vector<Values>{{1, 1}, {2, 2}, {3, 3}});
  CHECK(on_ranks(3, passing(conjugate_f, Direction::kBackward)) == every(3, {6, 6}));
}

TEST_CASE("conjugate_f: forward is free, backward is an all-reduce") {
  // Partners swap all 8 bytes, at distances 1, 2 and 4.
  CHECK(cost_of(8, passing(conjugate_f, Direction::kForward)) == Cost{0, 0, 0});
  CHECK(cost_of(8, passing(conjugate_f, Direction::kBackward)) == Cost{3, 3 * 8, 3 * 8});
}

TEST_CASE("conjugate_g: judged") { judge_rows("conjugate_g"); }

TEST_CASE("conjugate_g: forward the ranks' tensors are added up, backward nothing changes") {
  CHECK(on_ranks(3, passing(conjugate_g, Direction::kForward)) == every(3, {6, 6}));
  CHECK(on_ranks(3, passing(conjugate_g, Direction::kBackward)) ==
        std::vector<Values>{{1, 1}, {2, 2}, {3, 3}});
}

TEST_CASE("conjugate_g: forward is an all-reduce, backward is free") {
  CHECK(cost_of(8, passing(conjugate_g, Direction::kForward)) == Cost{3, 3 * 8, 3 * 8});
  CHECK(cost_of(8, passing(conjugate_g, Direction::kBackward)) == Cost{0, 0, 0});
}

TEST_CASE("column_linear: judged") { judge_rows("column_linear"); }

TEST_CASE(
    "column_linear: each rank has its columns of y, all of dx, and the gradients of its rows") {
  const std::vector<std::vector<Values>> ranks = on_ranks(2, by_columns);
  CHECK(ranks[0] == std::vector<Values>{{15}, {51, 62, 73, 84}, {1, 0, 0, 1}, {1}});
  CHECK(ranks[1] == std::vector<Values>{{33}, {51, 62, 73, 84}, {10, 0, 0, 10}, {10}});
}

TEST_CASE("column_linear: the four floats of dx are all-reduced, and nothing else") {
  CHECK(cost_of(2, by_columns) == Cost{1, 16, 16});
}

TEST_CASE("row_linear: judged") { judge_rows("row_linear"); }

TEST_CASE("row_linear: each rank has all of y, its columns of dx, and the gradient of the bias") {
  const std::vector<std::vector<Values>> ranks = on_ranks(2, by_rows);
  CHECK(ranks[0] == std::vector<Values>{{15, 33}, {51, 62}, {1, 0, 10, 0}, {1, 10}});
  CHECK(ranks[1] == std::vector<Values>{{15, 33}, {73, 84}, {0, 1, 0, 10}, {1, 10}});
}

TEST_CASE("row_linear: the two floats of y are all-reduced, and nothing else") {
  CHECK(cost_of(2, by_rows) == Cost{1, 8, 8});
}

TEST_CASE("parallel_mlp: judged") { judge_rows("parallel_mlp"); }

TEST_CASE("parallel_mlp: each rank has all of y and dx, and the gradients of its hidden unit") {
  const std::vector<std::vector<Values>> ranks = on_ranks(2, with_all_rows);
  const Values y = {1230, 1010}, dx = {310, -80, 20, 40};
  CHECK(ranks[0] == std::vector<Values>{y, dx, {-10, 30}, {30}, {5}, {3}});
  CHECK(ranks[1] == std::vector<Values>{y, dx, {100, 100}, {100}, {2}, {3}});
}

TEST_CASE("parallel_mlp: y is all-reduced forward, dx backward, and nothing in between") {
  CHECK(cost_of(2, with_all_rows) == Cost{2, 8 + 16, 8 + 16});
}

TEST_CASE("parallel_attention: judged") { judge_rows("parallel_attention"); }

TEST_CASE("parallel_attention: each rank has all of y and dx, and the gradients of its head") {
  const std::vector<std::vector<Values>> ranks = on_ranks(2, in_attention);
  const Values y = {142, 142}, dx = {42, 42};
  CHECK(ranks[0] == std::vector<Values>{y, dx, {10, 0, 8}, {4, 0, 4}, {8}, {4}});
  CHECK(ranks[1] == std::vector<Values>{y, dx, {200, 0, 16}, {80, 0, 8}, {80}, {4}});
}

TEST_CASE("parallel_attention: y is all-reduced forward, dx backward, and nothing in between") {
  CHECK(cost_of(2, in_attention) == Cost{2, 8 + 8, 8 + 8});
}

TEST_CASE("vocab_parallel_cross_entropy: judged") { judge_rows("vocab_parallel_cross_entropy"); }

TEST_CASE("vocab_parallel_cross_entropy: each rank has the loss, and the gradient by its logits") {
  // The probabilities are 1/2 and 0, then 1/4. Two rows count.
  CHECK(on_ranks(2, gradient_of_halves) == std::vector<Values>{
                                               {-0.25, 0.25, 0.125, 0.125, 0, 0},
                                               {0, 0, 0.125, -0.375, 0, 0},
                                           });
  for (const double sum : on_ranks(2, [](Comm& dist) { return loss_of_halves(dist).sum; }))
    CHECK(sum == doctest::Approx(std::log(2) + std::log(4)));
}

TEST_CASE("vocab_parallel_cross_entropy: three numbers per row are all-reduced") {
  // First a maximum for each of three rows, then two sums.
  CHECK(cost_of(2, gradient_of_halves) == Cost{2, 12 + 24, 12 + 24});
}

TEST_CASE("dropout_seeds: judged") { judge_rows("dropout_seeds"); }

TEST_CASE("dropout_seeds: four ranks, two of them a replica, have two and four seeds") {
  std::vector<DropoutSeeds> of(4);
  std::set<std::uint64_t> different;
  for (int rank = 0; rank < 4; ++rank) {
    DropoutSeeds& seeds = of[static_cast<std::size_t>(rank)];
    dropout_seeds(42, rank, 2, seeds);
    different.insert({seeds.replicated, seeds.sharded});
  }
  CHECK(of[0].replicated == of[1].replicated);
  CHECK(of[2].replicated == of[3].replicated);
  CHECK(different.size() == 6);
}

TEST_CASE(
    "dropout_seeds: the two ranks of a replica drop alike where it is whole, and only there") {
  const auto kept = [](Comm& dist, std::uint64_t DropoutSeeds::*generator) {
    DropoutSeeds seeds;
    dropout_seeds(42, dist.rank(), 2, seeds);
    Saved saved;
    return to_host(Dropout(0.5, Random(seeds.*generator)).forward(full({1, 64}, 1.0F), saved));
  };
  const std::vector<Values> whole =
      on_ranks(2, [&](Comm& dist) { return kept(dist, &DropoutSeeds::replicated); });
  const std::vector<Values> in_parts =
      on_ranks(2, [&](Comm& dist) { return kept(dist, &DropoutSeeds::sharded); });
  CHECK(whole[0] == whole[1]);
  CHECK(in_parts[0] != in_parts[1]);
}

TEST_CASE("sequence_parallel: judged") { judge_rows("sequence_parallel"); }

TEST_CASE("sequence_parallel: each rank has its row of y and dx, and the gradients of both rows") {
  const std::vector<std::vector<Values>> ranks = on_ranks(2, with_own_rows);
  CHECK(ranks[0] == std::vector<Values>{{1230}, {310, -80}, {-10, 30}, {30}, {5}, {3}});
  CHECK(ranks[1] == std::vector<Values>{{1010}, {20, 40}, {100, 100}, {100}, {2}, {3}});
}

TEST_CASE("sequence_parallel: parallel_mlp's bytes, twice as often, and half of the additions") {
  // Forward a row of x is gathered and half of y's sum kept; backward one of dy and half of dx's.
  CHECK(cost_of(2, with_own_rows) == Cost{4, (8 + 4) + (4 + 8), 4 + 8});
}

}  // namespace rankbox
