// Chapter 12, as an instructor would test it: values and costs that are worked out by hand, then
// the judge's rows. NAME_exercise_test runs a function's test cases on the learner's file.
#include <cmath>

#include <doctest/doctest.h>

#include "parallel/ring_attention.h"
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

}  // namespace rankbox
