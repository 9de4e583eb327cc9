// Choices have an order also where scores are equal; rows go where their numbers say.
#include "parallel/routing.h"

#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "comm/errors.h"

namespace rankbox {
namespace {

using Numbers = std::vector<std::int64_t>;
using Values = std::vector<float>;

TEST_CASE("a token goes to its k best experts, the best first; of equal ones to the lower") {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  struct Row {
    Values scores;
    int k;
    std::vector<int> experts;
  };
  const std::vector<Row> rows = {
      {{1, 3, 3, 0}, 1, {1}},
      {{1, 3, 3, 0}, 2, {1, 2}},
      {{1, 3, 3, 0}, 4, {1, 2, 0, 3}},
      {{0, 0, 0, 0}, 3, {0, 1, 2}},
      {{-5, -4, -3, -2}, 2, {3, 2}},
      {{0, 1, 2, 3, 3, 2, 1, 0}, 2, {3, 2, 0, 1}},  // two tokens
      {{}, 2, {}},                                  // none
      {{1000, 0, 0, 2000}, 2, {3, 0}},
      {{kNan, kNan, kNan, kNan}, 4, {0, 1, 2, 3}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.k);
    CAPTURE(row.scores.size());
    const auto tokens = static_cast<std::int64_t>(row.scores.size()) / 4;
    const Choices choices = choose_experts(from_host(row.scores, {tokens, 4}), row.k);
    CHECK(choices.experts == row.experts);
    CHECK(choices.gates.size() == row.experts.size());
  }
}

TEST_CASE("gates are the probabilities of the chosen experts, among all") {
  const Tensor scores = from_host(Values{0, std::log(3.0F), 1000, 998}, {2, 2});
  const std::vector<double> all = probabilities_of(scores);
  const Choices choices = choose_experts(scores, 1);
  const double large = 1 / (1 + std::exp(-2.0));
  const std::vector<double> expected = {0.25, 0.75, large, 1 - large};
  REQUIRE(all.size() == expected.size());
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == doctest::Approx(expected[i]));
  REQUIRE(choices.gates.size() == 2);
  CHECK(choices.gates[0] == doctest::Approx(0.75));
  CHECK(choices.gates[1] == doctest::Approx(large));
}

TEST_CASE("rows by expert: of each the first choices first, and of these in the order of tokens") {
  // Tokens choose 2 0, 0 1 and 2 1.
  const Choices choices = {{2, 0, 0, 1, 2, 1}, {0.6F, 0.1F, 0.5F, 0.2F, 0.7F, 0.3F}};
  const ExpertRows rows = rows_by_expert(choices, 2, 4);
  CHECK(rows.tokens == Numbers{1, 0, 1, 2, 0, 2});
  CHECK(rows.gates == Values{0.5F, 0.1F, 0.2F, 0.3F, 0.6F, 0.7F});
  CHECK(rows.counts == Numbers{2, 2, 2, 0});
  CHECK(rows_by_expert({}, 3, 2).counts == Numbers{0, 0});
}

TEST_CASE("scores_backward: what central differences of Σ c · gate give, for one choice or more") {
  const Values scores = {0.3F, -1, 2, 0.5F, 1.5F, 1, -0.5F, 0.1F, 0, 0.7F, -2, 0.2F};
  for (const int k : {1, 2, 4}) {
    CAPTURE(k);
    const Choices choices = choose_experts(from_host(scores, {3, 4}), k);
    const ExpertRows rows = rows_by_expert(choices, k, 4);
    Values by_gates;
    for (std::size_t i = 0; i < rows.gates.size(); ++i)
      by_gates.push_back(1 + static_cast<float>(i) / 2);
    // Choices stay as they are, whatever the scores become.
    const auto sum_of = [&](const Values& changed) {
      const std::vector<double> all = probabilities_of(from_host(changed, {3, 4}));
      double sum = 0;
      std::size_t row = 0;
      for (std::size_t expert = 0; expert < 4; ++expert) {
        for (std::int64_t i = 0; i < rows.counts[expert]; ++i, ++row)
          sum +=
              double{by_gates[row]} * all[static_cast<std::size_t>(rows.tokens[row]) * 4 + expert];
      }
      return sum;
    };
    const Values derivative = to_host(scores_backward(from_host(scores, {3, 4}), rows, by_gates));
    REQUIRE(derivative.size() == scores.size());
    for (std::size_t i = 0; i < scores.size(); ++i) {
      constexpr float kStep = 1.0F / 256;
      Values more = scores, less = scores;
      more[i] += kStep, less[i] -= kStep;
      CHECK(derivative[i] ==
            doctest::Approx((sum_of(more) - sum_of(less)) / (2 * double{kStep})).epsilon(1e-3));
    }
  }
  CHECK(scores_backward(zeros({0, 4}), rows_by_expert({}, 1, 4), {}).shape() == Shape{0, 4});
}

TEST_CASE("row_products: of each row with that row") {
  const Tensor a = from_host(Values{1, 2, 3, 4}, {2, 2}),
               b = from_host(Values{5, 6, -7, 8}, {2, 2});
  CHECK(row_products(a, b) == Values{17, 11});
  CHECK(row_products(Tensor({0, 2}), Tensor({0, 2})).empty());
}

TEST_CASE("rows_at copies rows by number; add_rows_at adds them, weighted") {
  const Tensor rows = from_host(Values{1, 2, 3, 4, 5, 6}, {3, 2});
  CHECK(to_host(rows_at(rows, {2, 0, 2})) == Values{5, 6, 1, 2, 5, 6});
  CHECK(rows_at(rows, {}).shape() == Shape{0, 2});
  Tensor into = full({2, 2}, 10.0F);
  add_rows_at(into, rows, {1, 0, 1}, {1, 2, -3});
  add_rows_at(into, Tensor({0, 2}), {}, {});
  CHECK(to_host(into) == Values{16, 18, 10 + 1 - 15, 10 + 2 - 18});
}

TEST_CASE("apply_experts: counts are those of the experts, again and again") {
  struct Row {
    Numbers counts;
    Values expected;
  };
  // Rows (1 2), (3 4), (5 6). The first matrix swaps their elements, the second one doubles them.
  const std::vector<Row> rows = {
      {{3, 0}, {2, 1, 4, 3, 6, 5}},
      {{0, 3}, {2, 4, 6, 8, 10, 12}},
      {{1, 1, 0, 1}, {2, 1, 6, 8, 10, 12}},
      {{0, 1, 2, 0}, {2, 4, 4, 3, 6, 5}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.counts.size());
    const Tensor weights = from_host(Values{0, 1, 1, 0, 2, 0, 0, 2}, {2, 2, 2});
    const Tensor x = from_host(Values{1, 2, 3, 4, 5, 6}, {3, 2});
    CHECK(to_host(apply_experts(x, row.counts, weights)) == row.expected);
    CHECK(apply_experts(Tensor({0, 2}), {0, 0}, weights).shape() == Shape{0, 2});
  }
}

TEST_CASE("apply_experts_backward: derivatives by the rows, and added to those by the weights") {
  // Rows (1 2), (3 4), (5 6), all derivatives 1: the first and the last row are for expert 1.
  const Tensor weights = from_host(Values{0, 1, 2, 0, 3, 0, 0, 4}, {2, 2, 2});
  const Tensor x = from_host(Values{1, 2, 3, 4, 5, 6}, {3, 2});
  Tensor dweights = full(weights.shape(), 100.0F);
  const Tensor dx =
      apply_experts_backward(x, {0, 1, 1, 1}, weights, full(x.shape(), 1.0F), dweights);
  CHECK(to_host(dx) == Values{3, 4, 1, 2, 3, 4});
  CHECK(to_host(dweights) == Values{103, 103, 104, 104, 106, 106, 108, 108});
}

TEST_CASE("numbers and shapes that do not fit are refused") {
  const auto refuses = [](auto call) { CHECK_THROWS_AS(call(), InvalidArgument); };
  refuses([] { return choose_experts(zeros({3, 2}), 3).experts; });
  refuses([] { return choose_experts(zeros({3, 2}), 0).experts; });
  refuses([] { return choose_experts(zeros({6}), 1).experts; });
  refuses([] { return probabilities_of(zeros({2, 0})); });
  refuses([] { return row_products(zeros({3, 2}), zeros({2, 2})); });
  refuses([] { return scores_backward(zeros({3, 2}), {{0}, {1}, {1, 0}}, {1, 1}); });
  refuses([] { return scores_backward(zeros({3, 2}), {{0}, {1}, {1}}, {1}); });
  refuses([] { return scores_backward(zeros({3, 2}), {{3}, {1}, {1, 0}}, {1}); });
  refuses([] { return rows_at(zeros({3, 2}), {3}); });
  refuses([] { return rows_at(zeros({3, 2}), {-1}); });
  refuses([] {
    Tensor into = zeros({3, 2});
    add_rows_at(into, zeros({2, 2}), {0, 1}, {1});
    return into;
  });
  refuses([] {
    Tensor into = zeros({3, 2});
    add_rows_at(into, zeros({2, 3}), {0, 1}, {1, 1});
    return into;
  });
  refuses([] {
    Tensor dweights = zeros({2, 2, 2});
    return apply_experts_backward(zeros({3, 2}), {1, 2}, dweights, zeros({2, 2}), dweights);
  });
  refuses([] { return apply_experts(zeros({3, 2}), {1, 1}, zeros({2, 2, 2})); });
  refuses([] { return apply_experts(zeros({3, 2}), {4, -1}, zeros({2, 2, 2})); });
  refuses([] { return apply_experts(zeros({3, 2}), {3, 0}, zeros({2, 2, 3})); });
}

}  // namespace
}  // namespace rankbox
