// Judges moe_zero_tokens: a step's values where ranks and experts have no tokens, and all of its
// collectives on every rank.
#include "parallel/moe_zero_tokens.h"

#include <limits>

#include "judge/case_lists.h"
#include "judge/compare.h"
#include "judge/experts/moe_layer.h"
#include "judge/salt.h"
#include "judge/training/known_mistakes.h"
#include "judge/training/native_calls.h"
#include "judge/training_families.h"

namespace rankbox {

namespace {

using Function = decltype(&moe_zero_tokens);

constexpr float kBound = 1e-5F;

std::vector<Case> cases() {
  std::vector<Case> some;
  for (const std::int64_t tokens :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, kToOneExpert, drawn("tokens", 6, 4, 11)})
    some.push_back({.count = tokens});
  return cases_with_each(some);
}

/// A step on one device, in double precision, as far as a rank has to know it.
struct MoeStep {
  std::vector<double> y, dx, dweights;
  std::vector<std::int64_t> loads;
};

MoeStep step_of(const MoeLayer& layer, int rank) {
  const std::int64_t h = layer.width, own = layer.experts_of_rank();
  const auto size = static_cast<std::size_t>(layer.tokens(rank) * h);
  MoeStep step = {std::vector<double>(size), std::vector<double>(size),
                  std::vector<double>(static_cast<std::size_t>(own * h * h)),
                  std::vector<std::int64_t>(static_cast<std::size_t>(layer.experts))};
  for (int src = 0; src < layer.world_size; ++src) {
    const std::vector<float> x = layer.rows("x", src), dy = layer.rows("dy", src);
    for (const Routed& row : layer.routed(src)) {
      ++step.loads[static_cast<std::size_t>(row.expert)];
      const std::vector<float> w = layer.weight(row.expert);
      const bool is_here = row.expert / own == rank;
      for (std::int64_t i = 0; i < h * h; ++i) {
        const auto in = static_cast<std::size_t>(row.token * h + i / h);
        const auto out = static_cast<std::size_t>(row.token * h + i % h);
        const double weight = double{row.gate} * double{w[static_cast<std::size_t>(i)]};
        if (src == rank) step.y[out] += double{x[in]} * weight;
        if (src == rank) step.dx[in] += double{dy[out]} * weight;
        if (is_here)
          step.dweights[static_cast<std::size_t>(row.expert % own * h * h + i)] +=
              double{row.gate} * double{x[in]} * double{dy[out]};
      }
    }
  }
  return step;
}

std::optional<Difference> compare_loads(const std::vector<std::int64_t>& actual,
                                        const std::vector<std::int64_t>& expected) {
  if (auto wrong = compare_size("loads", std::ssize(actual), std::ssize(expected))) return wrong;
  for (std::size_t e = 0; e < expected.size(); ++e) {
    if (actual[e] == expected[e]) continue;
    return Difference{"loads",
                      static_cast<std::int64_t>(e),
                      std::to_string(expected[e]),
                      std::to_string(actual[e]),
                      {"loads-of-all-ranks", "how many tokens of all ranks chose the expert"}};
  }
  return std::nullopt;
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  const MoeLayer layer = moe_layer_of(example);
  const int rank = dist.rank();
  const Shape rows = {layer.tokens(rank), layer.width};
  const auto tensor = [](const std::vector<double>& values, const Shape& shape) {
    return from_host(std::vector<float>(values.begin(), values.end()), shape);
  };
  const Tensor weights = layer.weights(rank);
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  Tensor y = full(rows, kNan), dx = full(rows, kNan), dweights = full(weights.shape(), kNan);
  std::vector<std::int64_t> loads = {-1};
  function(dist, from_host(layer.rows("x", rank), rows), layer.scores(rank), weights,
           from_host(layer.rows("dy", rank), rows), y, dx, dweights, loads);

  const MoeStep step = step_of(layer, rank);
  std::vector<NamedTensor> actual(3), expected(3);
  actual[0] = {"y", std::move(y)};
  actual[1] = {"dx", std::move(dx)};
  actual[2] = {"dweights", std::move(dweights)};
  expected[0] = {"y", tensor(step.y, rows)};
  expected[1] = {"dx", tensor(step.dx, rows)};
  expected[2] = {"dweights", tensor(step.dweights, weights.shape())};
  if (auto wrong = compare_tensors(
          actual, expected, kBound, {},
          {"values-as-given",
           "the given layer has these values where every rank and expert has tokens; elsewhere "
           "they are sums over the tokens that are there: 0 over none"}))
    return wrong;
  return compare_loads(loads, step.loads);
}

NativeCalls calls(const Case& example, int rank) {
  const MoeLayer layer = moe_layer_of(example);
  const NativeCall rows = {CollectiveKind::kAllToAllV, layer.width * layer.traffic().busiest(rank)};
  // Counts of 8 bytes are twice as many elements.
  return NativeCalls{{CollectiveKind::kAllToAll, 2 * layer.experts}} + repeated(4, {rows}) +
         NativeCalls{{CollectiveKind::kAllReduce, 2 * layer.experts}};
}

}  // namespace

Family family::moe_zero_tokens() {
  Subject subject = subject_with_calls(cases, calls, {check_of_calls(calls)});
  subject.count_to_show = 16;
  return make_family<Function>(
      "moe_zero_tokens",
      "(Comm& dist, const Tensor& x, const Tensor& scores, const Tensor& weights, const Tensor& "
      "dy, Tensor& y, Tensor& dx, Tensor& dweights, std::vector<std::int64_t>& loads)",
      subject, run);
}

}  // namespace rankbox
