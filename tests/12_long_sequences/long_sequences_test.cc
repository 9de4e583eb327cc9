// Chapter 12, as an instructor would test it: values and costs that are worked out by hand, then
// the judge's rows. NAME_exercise_test runs a function's test cases on the learner's file.
#include <cmath>

#include <doctest/doctest.h>

#include "comm/errors.h"
#include "parallel/ring_attention.h"
#include "parallel/ring_attention_backward.h"
#include "parallel/ring_attention_causal_zigzag.h"
#include "parallel/ulysses.h"
#include "tests/support/judge_rows.h"
#include "tests/support/on_ranks.h"

namespace rankbox {

namespace {

// Three tokens on two ranks, one head of width 1. Scores are q k; in e^score: 1, 2 and 4.
//
//   q = 1    k = 0, log 2, log 4    v = 7, 14, 21    y = (1·7 + 2·14 + 4·21) / (1 + 2 + 4) = 17
//
// Rank 0 has token 0, rank 1 the others. The second query is 0: y is the mean, 14.
struct OneHead {
  std::vector<float> q = {1, 0, 1}, k = {0, std::log(2.0F), std::log(4.0F)}, v = {7, 14, 21};
  std::int64_t begin = 0, end = 0;

  OneHead(int rank, int world_size) {
    const auto length = static_cast<std::int64_t>(q.size());
    begin = length * rank / world_size;
    end = length * (rank + 1) / world_size;
  }
  std::int64_t tokens() const { return end - begin; }
  Values part(const Values& all) const { return {all.begin() + begin, all.begin() + end}; }
  Tensor queries() const { return from_host(part(q), {tokens(), 1, 1}); }
  Tensor keys_and_values() const {
    Values both = part(k);
    const Values values = part(v);
    both.insert(both.end(), values.begin(), values.end());
    return from_host(both, {2, tokens(), 1, 1});
  }
};

std::vector<float> around_the_ring(Comm& dist) {
  const OneHead own(dist.rank(), dist.world_size());
  Tensor y = zeros({own.tokens(), 1, 1});
  ring_attention(dist, own.queries(), own.keys_and_values(), 3, y);
  CHECK(y.shape() == Shape{own.tokens(), 1, 1});
  return to_host(y);
}

void check_near(const std::vector<Values>& actual, const std::vector<Values>& expected) {
  REQUIRE(actual.size() == expected.size());
  for (std::size_t rank = 0; rank < actual.size(); ++rank) {
    CAPTURE(rank);
    REQUIRE(actual[rank].size() == expected[rank].size());
    for (std::size_t i = 0; i < actual[rank].size(); ++i)
      CHECK(actual[rank][i] == doctest::Approx(expected[rank][i]));
  }
}

// Two tokens on two ranks, two heads of width 1. In e^score, head 0 has 1 and 3, head 1 twice 1.
//
//   head 0   v = 4, 8      y = (1·4 + 3·8) / 4 = 7
//   head 1   v = 10, 20    y = 15

std::vector<float> with_all_to_alls(Comm& dist) {
  const bool first = dist.rank() == 0;
  const Tensor q = from_host(Values{1, 0}, {1, 2, 1});
  const Tensor k = from_host(Values{first ? 0 : std::log(3.0F), 5}, {1, 2, 1});
  const Tensor v = from_host(first ? Values{4, 10} : Values{8, 20}, {1, 2, 1});
  Tensor y = zeros({1, 2, 1});
  ulysses(dist, q, k, v, y);
  return to_host(y);
}

// Four tokens in four chunks on two ranks, one head of width 1, all queries 1. In e^score, keys are
// 1, 2, 1 and 4, and tokens attend to those before them:
//
//   v = 6    12                        0                       8.5
//   y = 6    (6 + 24) / 3 = 10         (6 + 24 + 0) / 4 = 7.5  (6 + 24 + 0 + 34) / 8 = 8
//
// Rank 0 has chunks 0 and 3, rank 1 has 1 and 2.

std::vector<float> in_zigzag(Comm& dist) {
  const int p = dist.world_size();
  const Values k = {0, std::log(2.0F), 0, std::log(4.0F)}, v = {6, 12, 0, 8.5F};
  const std::int64_t chunk = 4 / (2 * p);
  Values both;
  for (const int number : {dist.rank(), 2 * p - 1 - dist.rank()}) {
    for (const Values* const from : {&k, &v}) {
      both.insert(both.end(), from->begin() + number * chunk, from->begin() + (number + 1) * chunk);
    }
  }
  Tensor y = zeros({2 * chunk, 1, 1});
  ring_attention_causal_zigzag(dist, full({2 * chunk, 1, 1}, 1.0F),
                               from_host(both, {4, chunk, 1, 1}), 4, y);
  return to_host(y);
}

// Two tokens on two ranks, one head of width 1, v = (4 8), dy = (1 1), k = (0 log 3).
//
//   q = 1    softmax (1/4 3/4)    y = D = 7    ds = (1/4 (4 - 7)  3/4 (8 - 7)) = (-3/4 3/4)
//   q = 0            (1/2 1/2)            6         (1/2 (4 - 6)  1/2 (8 - 6)) = (-1 1)
//
//   dq = (3/4 log 3  log 3)    dk = (-3/4·1 - 1·0  3/4·1 + 1·0)    dv = (1/4 + 1/2  3/4 + 1/2)

std::vector<float> back_around_the_ring(Comm& dist) {
  const bool first = dist.rank() == 0;
  const Shape one = {1, 1, 1};
  const Tensor q = full(one, first ? 1.0F : 0.0F), y = full(one, first ? 7.0F : 6.0F);
  const Tensor kv = from_host(first ? Values{0, 4} : Values{std::log(3.0F), 8}, {2, 1, 1, 1});
  const Tensor log_sum = full({1, 1}, std::log(first ? 4.0F : 2.0F));
  Tensor dq = full(one, 100.0F), dkv = full(kv.shape(), 100.0F);
  ring_attention_backward(dist, q, kv, y, log_sum, full(one, 1.0F), 2, dq, dkv);
  Values all = to_host(dq);
  for (const float value : to_host(dkv)) all.push_back(value);
  return all;
}

}  // namespace

TEST_CASE("ring_attention: judged") { judge_rows("ring_attention"); }

TEST_CASE("ring_attention: each rank's queries attend to the tokens of all ranks") {
  check_near(on_ranks(1, around_the_ring), {{17, 14, 17}});
  check_near(on_ranks(2, around_the_ring), {{17}, {14, 17}});
  check_near(on_ranks(5, around_the_ring), {{}, {17}, {}, {14}, {17}});
}

TEST_CASE("ring_attention: a block of two tokens, 16 bytes, takes every step") {
  // Additions: on the chain of rank 1 a maximum, a sum and a value for each of two queries.
  CHECK(cost_of(2, around_the_ring) == Cost{1, 16, 24});
  CHECK(cost_of(1, around_the_ring) == Cost{0, 0, 0});
}

TEST_CASE("ulysses: judged") { judge_rows("ulysses"); }

TEST_CASE("ulysses: each rank's token has both heads, over both tokens") {
  check_near(on_ranks(2, with_all_to_alls), every(2, {7, 15}));
}

TEST_CASE("ulysses: half of q, k, v and y travels: 4 bytes each") {
  CHECK(cost_of(2, with_all_to_alls) == Cost{4, 16, 0});
}

TEST_CASE("ulysses: heads that the ranks do not divide are refused in one line") {
  const auto with_three_heads = [](Comm& dist) {
    Tensor y = zeros({1, 3, 1});
    ulysses(dist, zeros({1, 3, 1}), zeros({1, 3, 1}), zeros({1, 3, 1}), y);
  };
  CHECK_THROWS_WITH_AS(on_ranks(2, with_three_heads), doctest::Contains("3 heads on 2 ranks"),
                       InvalidArgument);
}

TEST_CASE("ring_attention_causal_zigzag: judged") { judge_rows("ring_attention_causal_zigzag"); }

TEST_CASE("ring_attention_causal_zigzag: tokens attend to those before them, on any rank") {
  check_near(on_ranks(1, in_zigzag), {{6, 10, 7.5, 8}});
  check_near(on_ranks(2, in_zigzag), {{6, 8}, {10, 7.5}});
}

TEST_CASE("ring_attention_causal_zigzag: one block of 16 bytes, and five parts on each rank") {
  // 12 bytes for each: a maximum, a sum and a value of one query.
  CHECK(cost_of(2, in_zigzag) == Cost{1, 16, 60});
}

TEST_CASE("ring_attention_causal_zigzag: a length that 2p does not divide is refused in one line") {
  const auto with_six_tokens = [](Comm& dist) {
    Tensor y = zeros({2, 1, 1});
    ring_attention_causal_zigzag(dist, zeros({2, 1, 1}), zeros({4, 1, 1, 1}), 6, y);
  };
  CHECK_THROWS_WITH_AS(on_ranks(2, with_six_tokens), doctest::Contains("6 tokens on 2 ranks"),
                       InvalidArgument);
}

TEST_CASE("ring_attention_backward: judged") { judge_rows("ring_attention_backward"); }

TEST_CASE("ring_attention_backward: dq stays, dk and dv come home with all ranks' shares") {
  const float log3 = std::log(3.0F);
  check_near(on_ranks(2, back_around_the_ring),
             {{0.75F * log3, -0.75F, 0.75F}, {log3, 0.75F, 1.25F}});
}

TEST_CASE("ring_attention_backward: a block goes once, its gradients twice, of 8 bytes each") {
  CHECK(cost_of(2, back_around_the_ring) == Cost{3, 24, 8});
}

}  // namespace rankbox
