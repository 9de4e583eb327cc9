// The layer of experts on one rank: its gradients, and the loads that it counts.
#include "parallel/experts.h"

#include <vector>

#include <doctest/doctest.h>

namespace rankbox {
namespace {

using Values = std::vector<float>;

constexpr std::int64_t kTokens = 5, kWidth = 3, kExperts = 4;

Values drawn(const char* name, std::int64_t count) {
  Random random = Random(7).stream(name);
  Values values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>(random.uniform(-1, 1)));
  return values;
}

/// Σ dy · y, in double precision.
double sum_of(Experts& layer, const Values& x, const Values& dy) {
  Saved saved(Pass{.mode = Mode::kEvaluation});
  const Values y = to_host(layer.forward(from_host(x, {kTokens, kWidth}), saved));
  double sum = 0;
  for (std::size_t i = 0; i < y.size(); ++i) sum += double{y[i]} * double{dy[i]};
  return sum;
}

TEST_CASE("gradients are what central differences give, also by the gates") {
  constexpr float kStep = 1.0F / 512;
  const Values x = drawn("x", kTokens * kWidth), dy = drawn("dy", kTokens * kWidth);
  for (const int k : {1, 2, 4}) {
    CAPTURE(k);
    Experts layer(kWidth, kExperts, k, Random(3));
    Saved saved;
    layer.forward(from_host(x, {kTokens, kWidth}), saved);
    const Values dx = to_host(layer.backward(from_host(dy, {kTokens, kWidth}), saved));
    CHECK(saved.empty());

    const auto check = [&](const Values& derivative, const Values& at, auto sum_at) {
      REQUIRE(derivative.size() == at.size());
      for (std::size_t i = 0; i < at.size(); ++i) {
        CAPTURE(i);
        Values more = at, less = at;
        more[i] += kStep, less[i] -= kStep;
        const double slope = (sum_at(more) - sum_at(less)) / (2 * double{kStep});
        CHECK(derivative[i] == doctest::Approx(slope).epsilon(5e-3).scale(1));
      }
    };
    check(dx, x, [&](const Values& moved) { return sum_of(layer, moved, dy); });
    for (Parameter* parameter : layer.parameters()) {
      CAPTURE(parameter->name);
      const Values values = to_host(parameter->value);
      check(to_host(parameter->gradient), values, [&](const Values& moved) {
        copy(parameter->value, from_host(moved, parameter->value.shape()));
        const double sum = sum_of(layer, x, dy);
        copy(parameter->value, from_host(values, parameter->value.shape()));
        return sum;
      });
    }
  }
}

TEST_CASE("evaluation counts the rows of each expert, training does not") {
  Experts layer(kWidth, kExperts, 2, Random(3));
  std::vector<std::int64_t> loads(kExperts);
  layer.count_loads(loads);
  const Tensor x = from_host(drawn("x", kTokens * kWidth), {kTokens, kWidth});
  Saved training, evaluation(Pass{.mode = Mode::kEvaluation});
  layer.forward(x, training);
  CHECK(loads == std::vector<std::int64_t>(kExperts));
  layer.forward(x, evaluation);
  std::int64_t rows = 0;
  for (const std::int64_t load : loads) rows += load;
  CHECK(rows == 2 * kTokens);
  const std::vector<std::int64_t> once = loads;
  layer.count(x);
  for (std::size_t e = 0; e < loads.size(); ++e) CHECK(loads[e] == 2 * once[e]);
}

}  // namespace
}  // namespace rankbox
