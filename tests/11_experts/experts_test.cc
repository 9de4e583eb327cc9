// Chapter 11, as an instructor would test it: values and costs that are worked out by hand, then
// the judge's rows. NAME_exercise_test runs a function's test cases on the learner's file.
#include <cmath>

#include <doctest/doctest.h>

#include "parallel/alltoallv.h"
#include "parallel/expert_parallel_layer.h"
#include "parallel/load_balance_loss.h"
#include "parallel/moe_dispatch_combine.h"
#include "parallel/moe_zero_tokens.h"
#include "tests/support/judge_rows.h"
#include "tests/support/on_ranks.h"

namespace rankbox {

namespace {

// The example of alltoallv.h: letters are numbers from 1 on, in rows of two equal ones. Other worlds
// send nothing.
struct Letters {
  std::vector<std::int64_t> counts;
  Values rows;

  Letters(int rank, int world_size) : counts(static_cast<std::size_t>(world_size)) {
    if (world_size != 3) return;
    if (rank == 0) counts = {1, 2, 0}, rows = {1, 1, 2, 2, 3, 3};
    if (rank == 2) counts = {3, 0, 1}, rows = {4, 4, 5, 5, 6, 6, 7, 7};
  }
};

/// What arrives, after the counts.
Values by_rank(Comm& dist) {
  const Letters own(dist.rank(), dist.world_size());
  const Tensor rows = from_host(own.rows, {static_cast<std::int64_t>(own.rows.size()) / 2, 2});
  Tensor received;
  std::vector<std::int64_t> counts;
  alltoallv(dist, rows, own.counts, received, counts);
  Values all(counts.begin(), counts.end());
  for (const float number : to_host(received)) all.push_back(number);
  return all;
}

// Two experts. In e^score, a token has 3 for the expert that it likes and 1 for the other: its
// probabilities are 3/4 and 1/4. Rank 0 has three tokens that like expert 0, rank 1 one that likes
// expert 1, others have none.
//
//   f = (3/4 1/4)    P = (10/16 6/16)    loss = 2 (30/64 + 6/64) = 9/8
//   rank 0 alone: 2 · 3/4 = 3/2, as rank 1

Tensor scores_of(const std::vector<int>& liked) {
  Values scores;
  for (const int expert : liked) {
    for (const int e : {0, 1}) scores.push_back(e == expert ? std::log(3.0F) : 0);
  }
  return from_host(scores, {std::ssize(liked), 2});
}

double loss_of_likings(Comm& dist) {
  const std::vector<std::vector<int>> liked = {{0, 0, 0}, {1}, {}};
  double loss = -1;
  load_balance_loss(dist, scores_of(liked[static_cast<std::size_t>(dist.rank())]), 1, loss);
  return loss;
}

// Experts multiply by 10 and by 100, and take one row of each rank. Rank 0 has tokens 1, 2 and 3,
// which like experts 1, 0 and 1: the third one is dropped. Other ranks have none.
Values to_experts(Comm& dist) {
  const int p = dist.world_size();
  const bool is_first = dist.rank() == 0;
  const Tensor x = from_host(is_first ? Values{1, 2, 3} : Values{}, {is_first ? 3 : 0, 1});
  const Tensor scores = scores_of(is_first ? std::vector<int>{1, 0, 1} : std::vector<int>{});
  const Tensor weights =
      p == 1 ? from_host(Values{10, 100}, {2, 1, 1}) : full({1, 1, 1}, is_first ? 10.0F : 100.0F);
  Tensor y = full(x.shape(), -1.0F);
  moe_dispatch_combine(dist, x, scores, weights, 1, 1, y);
  CHECK(y.shape() == x.shape());
  return to_host(y);
}

// The same experts, without a capacity. Rank 0 has tokens 1 and 2, which both like expert 1; expert 0
// gets none, and other ranks have none. All derivatives by y are 1.
//
//   y = 3/4 · (100 200)    dx = 3/4 · (100 100)    dweights = 0, and 3/4 · (1 + 2)    loads 0 2
Values without_tokens(Comm& dist) {
  const bool is_first = dist.rank() == 0;
  const Tensor x = from_host(is_first ? Values{1, 2} : Values{}, {is_first ? 2 : 0, 1});
  const Tensor scores = scores_of(is_first ? std::vector<int>{1, 1} : std::vector<int>{});
  const Tensor weights = full({1, 1, 1}, is_first ? 10.0F : 100.0F);
  Tensor y = full(x.shape(), -1.0F), dx = y, dweights = full({1, 1, 1}, -1.0F);
  std::vector<std::int64_t> loads;
  moe_zero_tokens(dist, x, scores, weights, full(x.shape(), 1.0F), y, dx, dweights, loads);
  Values all;
  for (const Tensor* tensor : {&y, &dx, &dweights}) {
    for (const float value : to_host(*tensor)) all.push_back(value);
  }
  all.insert(all.end(), loads.begin(), loads.end());
  return all;
}

// The same experts once more, and a router (0 log 3): a token x has the scores 0 and x log 3, so
// token 1 likes expert 1, with the gate 3/4. Rank 0 has that token alone, others have none. dy = 1.
//
//   y = 3/4 · 100      derivative by the gate 100,
//                      by the scores 100 · 3/4 · (-1/4 1/4) = (-75/4 75/4)
//   dx = 3/4 · 100 + 75/4 · log 3      router (-75/4 75/4), on both ranks      expert 1: 3/4
Values of_one_token(Comm& dist) {
  const bool is_first = dist.rank() == 0;
  Linear router(from_host(Values{0, std::log(3.0F)}, {2, 1}), Tensor());
  Parameter weights = {"weights", full({1, 1, 1}, is_first ? 10.0F : 100.0F)};
  ExpertLayer layer{router, weights, 1};
  Saved saved;
  Tensor y = full({is_first ? 1 : 0, 1}, 1.0F);
  expert_parallel_layer(dist, layer, Direction::kForward, y, saved);
  Tensor dx = full(y.shape(), 1.0F);
  expert_parallel_layer(dist, layer, Direction::kBackward, dx, saved);
  CHECK(saved.empty());
  Values all;
  for (const Tensor* tensor : {&y, &dx, &router.weight.gradient, &weights.gradient}) {
    for (const float value : to_host(*tensor)) all.push_back(value);
  }
  return all;
}

void check_near(const Values& actual, const Values& expected) {
  REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) CHECK(actual[i] == doctest::Approx(expected[i]));
}

}  // namespace

TEST_CASE("alltoallv: judged") { judge_rows("alltoallv"); }

TEST_CASE("alltoallv: a rank gets the rows that are for it, and knows from where") {
  CHECK(on_ranks(3, by_rank) == std::vector<Values>{{1, 0, 3, 1, 1, 4, 4, 5, 5, 6, 6},
                                                    {2, 0, 0, 2, 2, 3, 3},
                                                    {0, 0, 1, 7, 7}});
  CHECK(on_ranks(4, by_rank) == every(4, {0, 0, 0, 0}));
}

TEST_CASE("alltoallv: counts of 24 bytes, then as if all ranks had the rows of rank 2 or 0") {
  // Rank 2 sends three rows of 8 bytes, and rank 0 receives them: pieces of 12 bytes. Bruck's
  // algorithm takes two steps for either exchange, of a piece each.
  CHECK(cost_of(3, by_rank) == Cost{4, 16 + 24, 0});
}

TEST_CASE("load_balance_loss: judged") { judge_rows("load_balance_loss"); }

TEST_CASE("load_balance_loss: of all tokens, wherever they are") {
  CHECK(on_ranks(1, loss_of_likings)[0] == doctest::Approx(1.5));
  for (const int p : {2, 3}) {
    for (const double loss : on_ranks(p, loss_of_likings)) CHECK(loss == doctest::Approx(1.125));
  }
}

TEST_CASE("load_balance_loss: five numbers of 8 bytes for two experts") {
  CHECK(cost_of(2, loss_of_likings) == Cost{1, 40, 40});
}

TEST_CASE("moe_dispatch_combine: judged") { judge_rows("moe_dispatch_combine"); }

TEST_CASE("moe_dispatch_combine: tokens come back, by their gates, or as 0 if they are dropped") {
  check_near(on_ranks(1, to_experts)[0], {75, 15, 0});
  const std::vector<Values> y = on_ranks(2, to_experts);
  check_near(y[0], {75, 15, 0});
  CHECK(y[1].empty());
}

TEST_CASE("moe_dispatch_combine: a count of 8 bytes to the other rank, one row there and back") {
  CHECK(cost_of(2, to_experts) == Cost{3, 8 + 4 + 4, 0});
}

TEST_CASE("moe_zero_tokens: judged") { judge_rows("moe_zero_tokens"); }

TEST_CASE("moe_zero_tokens: a rank without tokens, and an expert without") {
  const std::vector<Values> all = on_ranks(2, without_tokens);
  check_near(all[0], {75, 150, 75, 75, 0, 0, 2});
  check_near(all[1], {2.25, 0, 2});
}

TEST_CASE("moe_zero_tokens: a count, four times two rows of 4 bytes, and two loads of 8 bytes") {
  CHECK(cost_of(2, without_tokens) == Cost{6, 8 + 4 * 8 + 16, 16});
}

TEST_CASE("expert_parallel_layer: judged") { judge_rows("expert_parallel_layer"); }

TEST_CASE("expert_parallel_layer: a token's derivatives, through its expert and its gate") {
  const std::vector<Values> all = on_ranks(2, of_one_token);
  check_near(all[0], {75, 75 + 18.75F * std::log(3.0F), -18.75, 18.75, 0});
  check_near(all[1], {-18.75, 18.75, 0.75});
}

TEST_CASE(
    "expert_parallel_layer: a count, four times a row of 4 bytes, and 8 bytes of the router") {
  CHECK(cost_of(2, of_one_token) == Cost{6, 8 + 4 * 4 + 8, 8});
}

}  // namespace rankbox
