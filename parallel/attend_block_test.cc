// Parts of a softmax add up to the whole, whatever their maxima, sizes and mask.
#include "parallel/attend_block.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "comm/errors.h"
#include "comm/run_ranks.h"
#include "tests/support/run_tests.h"
#include "training/random.h"

namespace rankbox {
namespace {

constexpr std::int64_t kHeads = 3, kWidth = 2;

/// Values from -size to size.
std::vector<float> values(std::int64_t tokens, const char* name, float size) {
  Random random = Random(5).stream(name);
  std::vector<float> all(static_cast<std::size_t>(tokens * kHeads * kWidth));
  for (float& value : all) value = size * static_cast<float>(random.uniform(-1, 1));
  return all;
}

/// Tokens [begin, end) of keys and values.
Tensor kv_of(const std::vector<float>& k, const std::vector<float>& v, std::int64_t begin,
             std::int64_t end) {
  std::vector<float> both;
  for (const std::vector<float>* const from : {&k, &v}) {
    both.insert(both.end(), from->begin() + begin * kHeads * kWidth,
                from->begin() + end * kHeads * kWidth);
  }
  return from_host(both, {2, end - begin, kHeads, kWidth});
}

/// Attention of query i to the keys [0, keys_of(i)), in double precision.
template <class KeysOf>
std::vector<float> expected(const std::vector<float>& q, const std::vector<float>& k,
                            const std::vector<float>& v, std::int64_t queries, KeysOf keys_of) {
  std::vector<float> y(q.size());
  for (std::int64_t row = 0; row < queries * kHeads; ++row) {
    const auto at = [&](std::int64_t token, std::int64_t i) {
      return static_cast<std::size_t>((token * kHeads + row % kHeads) * kWidth + i);
    };
    const std::int64_t query = row / kHeads, keys = keys_of(query);
    std::vector<double> scores;
    for (std::int64_t key = 0; key < keys; ++key) {
      double score = 0;
      for (std::int64_t i = 0; i < kWidth; ++i)
        score += double{q[at(query, i)]} * double{k[at(key, i)]} / std::sqrt(double{kWidth});
      scores.push_back(score);
    }
    const double largest = *std::max_element(scores.begin(), scores.end());
    double sum = 0;
    for (double& score : scores) sum += score = std::exp(score - largest);
    for (std::int64_t i = 0; i < kWidth; ++i) {
      double value = 0;
      for (std::int64_t key = 0; key < keys; ++key)
        value += scores[static_cast<std::size_t>(key)] * double{v[at(key, i)]};
      y[at(query, i)] = static_cast<float>(value / sum);
    }
  }
  return y;
}

void check_near(const std::vector<float>& actual, const std::vector<float>& right) {
  REQUIRE(actual.size() == right.size());
  for (std::size_t i = 0; i < right.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(actual[i] - right[i]) <= 2e-5F);
  }
}

void merge(AttentionPart& all, AttentionPart part) {
  const Tensor larger = maximum(all.maximum, part.maximum);
  rescale(all, larger);
  rescale(part, larger);
  all.sum += part.sum;
  all.weighted += part.weighted;
}

/// Runs on one rank: attend_block spends its virtual time.
template <class F>
RunReport alone(F f) {
  return run_ranks({.world_size = 1}, f).report;
}

TEST_CASE("the parts of any blocks add up to the attention to all keys") {
  constexpr std::int64_t kQueries = 4, kKeys = 9;
  struct Row {
    std::vector<std::int64_t> cuts;
    float size;  // of q: scores of 300 overflow without the maximum
  };
  for (const Row& row : {Row{{0, 9}, 1}, Row{{0, 4, 9}, 1}, Row{{0, 1, 2, 7, 9}, 1},
                         Row{{0, 0, 3, 3, 9, 9}, 1}, Row{{0, 2, 5, 9}, 300}}) {
    CAPTURE(row.size);
    CAPTURE(row.cuts.size());
    const auto q = values(kQueries, "q", row.size), k = values(kKeys, "k", 1),
               v = values(kKeys, "v", 1);
    std::vector<float> y;
    alone([&](Comm& dist) {
      const Tensor queries = from_host(q, {kQueries, kHeads, kWidth});
      AttentionPart all = attend_block(dist, queries, kv_of(k, v, 0, row.cuts[1]));
      for (std::size_t i = 1; i + 1 < row.cuts.size(); ++i) {
        merge(all, attend_block(dist, queries, kv_of(k, v, row.cuts[i], row.cuts[i + 1])));
      }
      y = to_host(normalized(std::move(all)));
    });
    check_near(y, expected(q, k, v, kQueries, [](std::int64_t) { return kKeys; }));
  }
}

TEST_CASE("a causal block: query i attends to keys 0 to i") {
  constexpr std::int64_t kTokens = 5;
  const auto q = values(kTokens, "q", 1), k = values(kTokens, "k", 1), v = values(kTokens, "v", 1);
  std::vector<float> y;
  alone([&](Comm& dist) {
    y = to_host(normalized(attend_block(dist, from_host(q, {kTokens, kHeads, kWidth}),
                                        kv_of(k, v, 0, kTokens), Mask::kCausal)));
  });
  check_near(y, expected(q, k, v, kTokens, [](std::int64_t query) { return query + 1; }));
}

/// Loss Σ y dy of queries that attend to all keys, in double precision by finite differences.
double loss_of(const std::vector<float>& q, const std::vector<float>& k,
               const std::vector<float>& v, const std::vector<float>& dy, std::int64_t queries,
               std::int64_t keys) {
  const std::vector<float> y = expected(q, k, v, queries, [=](std::int64_t) { return keys; });
  double loss = 0;
  for (std::size_t i = 0; i < y.size(); ++i) loss += double{y[i]} * double{dy[i]};
  return loss;
}

TEST_CASE("the shares of blocks add up to the derivatives, by finite differences") {
  constexpr std::int64_t kQueries = 3, kKeys = 5;
  const auto q = values(kQueries, "q", 1), dy = values(kQueries, "dy", 1);
  const auto k = values(kKeys, "k", 1), v = values(kKeys, "v", 1);
  std::vector<float> dq, dk, dv;
  alone([&](Comm& dist) {
    const Tensor queries = from_host(q, {kQueries, kHeads, kWidth});
    const AttentionPart all = attend_block(dist, queries, kv_of(k, v, 0, kKeys));
    std::vector<float> log_sum = to_host(all.maximum);
    const std::vector<float> sum = to_host(all.sum);
    for (std::size_t i = 0; i < sum.size(); ++i) log_sum[i] += std::log(sum[i]);
    Tensor of_q = zeros(queries.shape());
    const Tensor y = normalized({all.weighted, all.maximum, all.sum});
    for (const auto& [begin, end] : {std::pair(0, 2), std::pair(2, 2), std::pair(2, 5)}) {
      const std::vector<float> part = to_host(attend_block_backward(
          dist, queries, kv_of(k, v, begin, end), y, from_host(log_sum, {kQueries, kHeads}),
          from_host(dy, queries.shape()), of_q));
      const auto half = static_cast<std::ptrdiff_t>(part.size() / 2);
      dk.insert(dk.end(), part.begin(), part.begin() + half);
      dv.insert(dv.end(), part.begin() + half, part.end());
    }
    dq = to_host(of_q);
  });
  const auto check = [&](const std::vector<float>& values_of, const std::vector<float>& derivatives,
                         auto loss) {
    constexpr float kStep = 1.0F / 64;
    REQUIRE(values_of.size() == derivatives.size());
    for (std::size_t i = 0; i < values_of.size(); ++i) {
      CAPTURE(i);
      std::vector<float> more = values_of, less = values_of;
      more[i] += kStep;
      less[i] -= kStep;
      const double slope = (loss(more) - loss(less)) / (double{more[i]} - double{less[i]});
      CHECK(std::abs(slope - double{derivatives[i]}) < 1e-3);
    }
  };
  check(q, dq, [&](const auto& x) { return loss_of(x, k, v, dy, kQueries, kKeys); });
  check(k, dk, [&](const auto& x) { return loss_of(q, x, v, dy, kQueries, kKeys); });
  check(v, dv, [&](const auto& x) { return loss_of(q, k, x, dy, kQueries, kKeys); });
}

TEST_CASE("a block takes the virtual time of its pairs") {
  const RunReport report = alone([&](Comm& dist) {
    const Tensor q = full({3, kHeads, kWidth}, 1.0F);
    (void)attend_block(dist, q, full({2, 5, kHeads, kWidth}, 1.0F));                 // 15 pairs
    (void)attend_block(dist, q, full({2, 3, kHeads, kWidth}, 1.0F), Mask::kCausal);  // 6 pairs
    const Tensor kv = full({2, 1, kHeads, kWidth}, 1.0F);
    Tensor dq = zeros(q.shape());  // 3 pairs, 2.5 times as long
    (void)attend_block_backward(dist, q, kv, q, zeros({3, kHeads}), q, dq);
    (void)attend_block(dist, q, full({2, 0, kHeads, kWidth}, 1.0F));  // none
  });
  if (report.trace.ranks.empty()) return testing::pass_over("virtual time is the sandbox's");
  CHECK(report.virtual_seconds == doctest::Approx(attention_seconds(21, kHeads, kWidth) +
                                                  attention_backward_seconds(3, kHeads, kWidth)));
}

TEST_CASE("more queries than the scores of a time: all attend to the same keys") {
  constexpr std::int64_t kTokens = 150;
  const auto q = values(kTokens, "q", 1), k = values(kTokens, "k", 1), v = values(kTokens, "v", 1);
  for (const Mask mask : {Mask::kNone, Mask::kCausal}) {
    std::vector<float> y;
    alone([&](Comm& dist) {
      y = to_host(normalized(attend_block(dist, from_host(q, {kTokens, kHeads, kWidth}),
                                          kv_of(k, v, 0, kTokens), mask)));
    });
    check_near(y, expected(q, k, v, kTokens, [&](std::int64_t query) {
                 return mask == Mask::kCausal ? query + 1 : kTokens;
               }));
  }
}

TEST_CASE("swapped pieces: rows become columns") {
  const Tensor pieces = from_host({0.F, 1.F, 2.F, 3.F, 4.F, 5.F, 6.F, 7.F, 8.F, 9.F, 10.F, 11.F});
  CHECK(to_host(swapped(pieces, 2, 3)) == std::vector<float>{0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11});
  CHECK(swapped(pieces, 2, 3).shape() == Shape{3, 2, 2});
  CHECK(to_host(swapped(swapped(pieces, 4, 3), 3, 4)) == to_host(pieces));
  CHECK(swapped(zeros({0, 4, 2}), 0, 4).empty());
  CHECK_THROWS_AS((void)swapped(pieces, 5, 2), InvalidArgument);
}

TEST_CASE("ranks get whole heads, or an error in one line that says how many there may be") {
  CHECK(heads_of_rank(zeros({5, 6, 2}), 3) == 2);
  CHECK_THROWS_WITH_AS((void)heads_of_rank(zeros({5, 6, 2}), 4),
                       doctest::Contains("6 heads on 4 ranks"), InvalidArgument);
  CHECK_THROWS_AS((void)heads_of_rank(zeros({5, 6}), 2), InvalidArgument);
}

TEST_CASE("zigzag has equal chunks, or an error in one line that says how far to pad") {
  CHECK(zigzag_chunk(24, 4) == 3);
  CHECK(zigzag_chunk(0, 4) == 0);
  CHECK_THROWS_WITH_AS((void)zigzag_chunk(20, 4), doctest::Contains("24 tokens"), InvalidArgument);
}

TEST_CASE("shapes that do not fit together are refused") {
  alone([](Comm& dist) {
    const Tensor q = zeros({3, kHeads, kWidth});
    CHECK_THROWS_AS((void)attend_block(dist, q, zeros({2, 4, kWidth, kHeads})), InvalidArgument);
    CHECK_THROWS_AS((void)attend_block(dist, q, zeros({4, kHeads, kWidth})), InvalidArgument);
    CHECK_THROWS_AS((void)attend_block(dist, q, zeros({2, 4, kHeads, kWidth}), Mask::kCausal),
                    InvalidArgument);
    CHECK_THROWS_AS((void)empty_kv(q, 3), InvalidArgument);
    Tensor dq = zeros({2, kHeads, kWidth});
    const Tensor kv = zeros({2, 4, kHeads, kWidth});
    CHECK_THROWS_AS((void)attend_block_backward(dist, q, kv, q, zeros({3, kHeads}), q, dq),
                    InvalidArgument);
    AttentionPart part = attend_block(dist, q, kv);
    CHECK_THROWS_AS(rescale(part, zeros({2, kHeads})), InvalidArgument);
    part.sum = zeros({2, kHeads});
    CHECK_THROWS_AS((void)normalized(std::move(part)), InvalidArgument);
  });
}

}  // namespace
}  // namespace rankbox
