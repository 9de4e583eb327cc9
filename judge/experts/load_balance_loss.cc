// Judges load_balance_loss: the loss of all ranks' tokens, and one all-reduce.
#include "parallel/load_balance_loss.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "judge/case_lists.h"
#include "judge/experts/router.h"
#include "judge/salt.h"
#include "judge/training/native_calls.h"
#include "judge/training_families.h"

namespace rankbox {

namespace {

using Function = decltype(&load_balance_loss);

constexpr double kBound = 1e-6;  // probabilities may be floats

std::vector<Case> cases() {
  std::vector<Case> some;
  for (const std::int64_t tokens : {0, 1, 2, 5}) some.push_back({.count = tokens});
  some.push_back({.count = drawn("tokens", 40, 30, 60)});
  return cases_with_each(some);
}

std::int64_t experts_of(const Case& example) { return 3 + *example.count % 4; }
int choices_of(const Case& example) { return *example.count % 2 == 0 ? 2 : 1; }

Tensor scores_of_rank(const Case& example, int rank) {
  const std::int64_t tokens = tokens_of_uneven(*example.count, rank, example.world_size);
  return scores_of(*example.count, rank, tokens, experts_of(example));
}

/// What the loss follows from: of some ranks' tokens.
struct Sums {
  std::vector<double> chosen, probability;
  double tokens = 0;

  void add(const Tensor& scores, int k) {
    const auto experts = static_cast<std::size_t>(scores.shape().extents()[1]);
    chosen.resize(experts), probability.resize(experts);
    for (const int e : choose_experts(scores, k).experts) chosen[static_cast<std::size_t>(e)] += 1;
    const std::vector<double> each = probabilities_of(scores);
    for (std::size_t i = 0; i < each.size(); ++i) probability[i % experts] += each[i];
    tokens += static_cast<double>(scores.shape().extents()[0]);
  }
  double loss(int k) const {
    if (tokens == 0) return 0;
    double sum = 0;
    for (std::size_t e = 0; e < chosen.size(); ++e)
      sum += chosen[e] / (k * tokens) * probability[e] / tokens;
    return static_cast<double>(chosen.size()) * sum;
  }
};

struct MistakenLoss {
  double loss;
  Hint hint;
};

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  const int p = dist.world_size(), k = choices_of(example);
  const auto experts = static_cast<double>(experts_of(example));
  Sums all, own;
  double sum = 0, used = 0;
  for (int rank = 0; rank < p; ++rank) {
    Sums alone;
    alone.add(scores_of_rank(example, rank), k);
    all.add(scores_of_rank(example, rank), k);
    sum += alone.loss(k);
    used += alone.tokens > 0 ? 1 : 0;
    if (rank == dist.rank()) own = alone;
  }
  double loss = std::numeric_limits<double>::quiet_NaN();
  function(dist, scores_of_rank(example, dist.rank()), k, loss);

  const double expected = all.loss(k);
  const auto is_near = [&](double value) { return std::abs(loss - value) <= kBound * experts; };
  if (is_near(expected)) return std::nullopt;
  Difference wrong = {"loss", -1, fmt::format("{}", expected), fmt::format("{}", loss), {}};
  const Hint means = {"mean-of-losses",
                      "that is the mean of the ranks' losses: a loss is a product of two means, "
                      "and cannot be averaged; f and P of all tokens come first"};
  const std::vector<MistakenLoss> mistakes = {
      {own.loss(k), {"own-tokens-alone", "that is the loss of this rank's tokens alone"}},
      {sum / p, means},
      {sum / std::max(used, 1.0), means},
      {k * expected,
       {"share-of-choices", "f_e is the share of all choices, of which a token has k"}},
      {expected / experts, {"times-the-experts", "the sum is to be multiplied by E, the experts"}}};
  wrong.hint = {
      "loss-of-all-tokens",
      "E · Σ f_e P_e, with f and P over all ranks' tokens: sums by their count, which may "
      "differ from rank to rank"};
  for (const MistakenLoss& mistake : mistakes) {
    if (std::abs(mistake.loss - expected) <= kBound * experts || !is_near(mistake.loss)) continue;
    wrong.hint = mistake.hint;
    break;
  }
  return wrong;
}

NativeCalls calls(const Case& example) {
  // Doubles are twice as many elements.
  return {{CollectiveKind::kAllReduce, 2 * (2 * experts_of(example) + 1)}};
}

}  // namespace

Family family::load_balance_loss() {
  return make_family<Function>("load_balance_loss",
                               "(Comm& dist, const Tensor& scores, int k, double& loss)",
                               subject_with_calls(cases, calls, {check_of_calls(calls)}), run);
}

}  // namespace rankbox
