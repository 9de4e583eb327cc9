// Judges expert_parallel_layer: y, dx and gradients as on one device, and the rows of each pass.
#include "parallel/expert_parallel_layer.h"

#include <algorithm>
#include <utility>

#include "judge/case_lists.h"
#include "judge/experts/moe_layer.h"
#include "judge/salt.h"
#include "judge/training/known_mistakes.h"
#include "judge/training/native_calls.h"
#include "judge/training_families.h"

namespace rankbox {

namespace {

using Function = decltype(&expert_parallel_layer);

constexpr float kBound = 1e-5F;
constexpr std::int64_t kTwoBatches = 2;  // in flight at once
constexpr std::int64_t kFromEmpty = 5;   // gradients begin empty, elsewhere as ones

std::vector<Case> cases() {
  std::vector<Case> some;
  for (const std::int64_t tokens : {std::int64_t{0}, std::int64_t{1}, kTwoBatches, kToOneExpert,
                                    kFromEmpty, drawn("tokens", 7, 6, 11)})
    some.push_back({.count = tokens});
  return cases_with_each(some);
}

/// A layer, with the names of a batch's rows.
struct Work {
  MoeLayer layer;
  const char* dy;
};

std::vector<Work> batches_of(const Case& example) {
  MoeLayer layer = moe_layer_of(example);
  const std::int64_t count = layer.count;
  const int wanted = count <= 1 || count == kToOneExpert ? 1 : count <= 5 ? 2 : 3;
  layer.k = static_cast<int>(std::min<std::int64_t>(wanted, layer.experts));
  layer.scored = "x";
  std::vector<Work> all = {{layer, "dy"}};
  layer.scored = "x of the second batch";
  if (count == kTwoBatches) all.push_back({layer, "dy of the second batch"});
  return all;
}

float gradient_before(const MoeLayer& layer) { return layer.count == kFromEmpty ? 0 : 1; }

/// What a program might do instead.
struct Slip {
  bool gates_are_constant = false;
  bool chosen_scores_alone = false;  // a gate depends on its score, and not on the others'
  bool router_of_own_tokens = false;
  bool experts_forget_gates = false;
  bool means = false;
};

using Doubles = std::vector<double>;

NamedTensor named(const char* name, const Doubles& values, const Shape& shape) {
  return {name, from_host(std::vector<float>(values.begin(), values.end()), shape)};
}

/// Adds what the tokens of a rank contribute to the gradients, and to y and dx if these are given.
class OneDevice {
 public:
  OneDevice(const Work& work, const Slip& slip) : layer_(work.layer), dy_(work.dy), slip_(slip) {}

  void add(int src, Doubles* y, Doubles* dx, Doubles* router, Doubles& weights) const {
    const std::int64_t h = layer_.width, experts = layer_.experts;
    const std::vector<float> x = layer_.rows(layer_.scored, src), dy = layer_.rows(dy_, src);
    const Doubles probabilities = probabilities_of(layer_.scores(src));
    Doubles by_gates(probabilities.size()), sums(static_cast<std::size_t>(layer_.tokens(src)));
    for (const Routed& row : layer_.routed(src)) {
      const std::vector<float> w = layer_.weight(row.expert);
      const double weighted = slip_.experts_forget_gates ? 1 : double{row.gate};
      double by_gate = 0;
      for (std::int64_t i = 0; i < h * h; ++i) {
        const auto in = static_cast<std::size_t>(row.token * h + i / h);
        const auto out = static_cast<std::size_t>(row.token * h + i % h);
        const double weight = w[static_cast<std::size_t>(i)];
        if (y != nullptr) (*y)[out] += double{row.gate} * double{x[in]} * weight;
        if (dx != nullptr) (*dx)[in] += weighted * double{dy[out]} * weight;
        by_gate += double{x[in]} * weight * double{dy[out]};
        weights[static_cast<std::size_t>(row.expert * h * h + i)] +=
            weighted * double{x[in]} * double{dy[out]};
      }
      const auto at = static_cast<std::size_t>(row.token * experts + row.expert);
      by_gates[at] = by_gate;
      sums[static_cast<std::size_t>(row.token)] += by_gate * probabilities[at];
    }
    if (slip_.gates_are_constant) return;
    const std::vector<float> r = layer_.router();
    for (std::size_t at = 0; at < by_gates.size(); ++at) {
      const auto token = static_cast<std::int64_t>(at) / experts;
      const std::int64_t expert = static_cast<std::int64_t>(at) % experts;
      const double p = probabilities[at];
      const double by_others =
          slip_.chosen_scores_alone ? p * by_gates[at] : sums[static_cast<std::size_t>(token)];
      const double by_score = p * (by_gates[at] - by_others);
      for (std::int64_t i = 0; i < h; ++i) {
        const auto of_x = static_cast<std::size_t>(token * h + i);
        const auto of_r = static_cast<std::size_t>(expert * h + i);
        if (dx != nullptr) (*dx)[of_x] += by_score * double{r[of_r]};
        if (router != nullptr) (*router)[of_r] += by_score * double{x[of_x]};
      }
    }
  }

 private:
  const MoeLayer& layer_;
  const char* dy_;
  Slip slip_;
};

/// Returns what a rank should have, or has by a slip: from all tokens, on one device.
std::vector<NamedTensor> step_of(const std::vector<Work>& batches, int rank, const Slip& slip) {
  const MoeLayer& layer = batches.front().layer;
  const std::int64_t h = layer.width, own = layer.experts_of_rank();
  const Shape rows = {layer.tokens(rank), h};
  Doubles router(static_cast<std::size_t>(layer.experts * h));
  Doubles weights(static_cast<std::size_t>(layer.experts * h * h));
  std::vector<NamedTensor> all;
  for (const Work& work : batches) {
    Doubles y(static_cast<std::size_t>(rows.elements())), dx = y;
    for (int src = 0; src < layer.world_size; ++src) {
      const bool is_own = src == rank;
      OneDevice(work, slip)
          .add(src, is_own ? &y : nullptr, is_own ? &dx : nullptr,
               is_own || !slip.router_of_own_tokens ? &router : nullptr, weights);
    }
    all.push_back(named("y", y, rows));
    all.push_back(named("dx", dx, rows));
  }
  const double before = gradient_before(layer);
  const double divisor = slip.means ? layer.world_size : 1;
  for (double& each : router) each = before + each / divisor;
  for (double& each : weights) each = before + each / divisor;
  const auto begin = weights.begin() + rank * own * h * h;
  all.push_back(named("router's gradient", router, {layer.experts, h}));
  all.push_back(named("weights' gradient", {begin, begin + own * h * h}, {own, h, h}));
  return all;
}

std::vector<Mistake> mistakes_of(const std::vector<Work>& batches, int rank) {
  const auto with = [=](const Slip& slip) { return [=] { return step_of(batches, rank, slip); }; };
  return {
      {{"router-of-all-tokens",
        "the router's gradient is that of this rank's tokens: its weights are the same on all "
        "ranks, so gradients are to be added up over the ranks"},
       with({.router_of_own_tokens = true})},
      {{"gates-have-derivatives",
        "that is with constant gates: y depends on them, and so the router and x get derivatives "
        "through them"},
       with({.gates_are_constant = true})},
      {{"softmax-of-all-experts",
        "that is as if a gate depended on its score alone: a probability depends on the scores of "
        "all experts"},
       with({.chosen_scores_alone = true})},
      {{"derivative-times-gate",
        "that is with dy instead of gate · dy for the experts: y is Σ gate · x W"},
       with({.experts_forget_gates = true})},
      {{"sums-not-means",
        "that is divided by the number of ranks: gradients are sums over the tokens of all ranks"},
       with({.means = true})}};
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  const std::vector<Work> batches = batches_of(example);
  const MoeLayer& layer = batches.front().layer;
  const int rank = dist.rank();
  const Shape rows = {layer.tokens(rank), layer.width};
  Linear router(from_host(layer.router(), {layer.experts, layer.width}), Tensor());
  Parameter weights = {"weights", layer.weights(rank)};
  if (const float before = gradient_before(layer); before != 0) {
    router.weight.gradient = full(router.weight.value.shape(), before);
    weights.gradient = full(weights.value.shape(), before);
  }
  ExpertLayer part{router, weights, layer.k};

  std::vector<NamedTensor> actual(2 * batches.size() + 2);
  std::vector<Saved> saved(batches.size());
  const auto pass = [&](Direction direction, const char* input, const char* output, std::size_t at,
                        Saved& of_batch) {
    Tensor tensor = from_host(layer.rows(input, rank), rows);
    function(dist, part, direction, tensor, of_batch);
    actual[at] = {output, std::move(tensor)};
  };
  for (std::size_t b = 0; b < batches.size(); ++b)
    pass(Direction::kForward, batches[b].layer.scored, "y", 2 * b, saved[b]);
  for (std::size_t b = 0; b < batches.size(); ++b)
    pass(Direction::kBackward, batches[b].dy, "dx", 2 * b + 1, saved[b]);
  actual[2 * batches.size()] = {"router's gradient", std::move(router.weight.gradient)};
  actual[2 * batches.size() + 1] = {"weights' gradient", std::move(weights.gradient)};
  return compare_tensors(
      actual, step_of(batches, rank, {}), kBound, mistakes_of(batches, rank),
      {"as-on-one-device",
       "y and dx of this rank's tokens, and gradients of all ranks' tokens, are to be those of one "
       "device with all experts; gradients are added to what was there"});
}

NativeCalls calls(const Case& example, int rank) {
  NativeCalls forward, backward;
  for (const Work& work : batches_of(example)) {
    const MoeLayer& layer = work.layer;
    const NativeCall rows = {CollectiveKind::kAllToAllV,
                             layer.width * layer.traffic().busiest(rank)};
    // Counts of 8 bytes are twice as many elements.
    forward = forward + NativeCalls{{CollectiveKind::kAllToAll, 2 * layer.experts}, rows, rows};
    backward = backward +
               NativeCalls{rows, rows, {CollectiveKind::kAllReduce, layer.experts * layer.width}};
  }
  return forward + backward;
}

}  // namespace

Family family::expert_parallel_layer() {
  Subject subject = subject_with_calls(cases, calls, {check_of_calls(calls)});
  // A batch's share of the router's gradient may be added to what was there, or not.
  subject.cost = [of_calls = subject.cost](const Case& example) {
    const std::vector<Work> batches = batches_of(example);
    const MoeLayer& layer = batches.front().layer;
    Cost cost = of_calls(example);
    cost.reduced +=
        static_cast<double>(kElementBytes * std::ssize(batches) * layer.experts * layer.width);
    return cost;
  };
  subject.may_cost_less = [](const Case&) { return true; };  // its calls are counted exactly
  subject.count_to_show = 16;
  return make_family<Function>("expert_parallel_layer",
                               "(Comm& dist, ExpertLayer& layer, Direction direction, Tensor& "
                               "tensor, Saved& saved)",
                               subject, run);
}

}  // namespace rankbox
