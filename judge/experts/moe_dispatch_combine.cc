// Judges moe_dispatch_combine: y as on one device, and the rows of each rank, no more.
#include "parallel/moe_dispatch_combine.h"

#include <algorithm>
#include <limits>

#include "judge/case_lists.h"
#include "judge/experts/moe_layer.h"
#include "judge/salt.h"
#include "judge/training/known_mistakes.h"
#include "judge/training/native_calls.h"
#include "judge/training_families.h"

namespace rankbox {

namespace {

using Function = decltype(&moe_dispatch_combine);

constexpr float kBound = 1e-5F;
constexpr std::int64_t kAllDropped = 4;

std::vector<Case> cases() {
  std::vector<Case> some;
  for (const std::int64_t tokens : {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, kToOneExpert,
                                    kAllDropped, std::int64_t{5}, drawn("tokens", 7, 6, 11)})
    some.push_back({.count = tokens});
  return cases_with_each(some);
}

MoeLayer layer_with_choices(const Case& example) {
  MoeLayer layer = moe_layer_of(example);
  const std::int64_t count = layer.count;
  const int wanted = count <= 1 || count == kToOneExpert ? 1 : count <= 5 ? 2 : 3;
  layer.k = static_cast<int>(std::min<std::int64_t>(wanted, layer.experts));
  layer.capacity = 3;
  if (count == 2) layer.capacity = 1;
  if (count == kToOneExpert) layer.capacity = 100;
  if (count == kAllDropped) layer.capacity = 0;
  if (count == 5) layer.capacity = 2;
  return layer;
}

/// Returns a rank's y of these rows, in double precision.
std::vector<NamedTensor> y_of(const MoeLayer& layer, int rank, const std::vector<Routed>& rows) {
  const std::vector<float> x = layer.rows("x", rank);
  const std::int64_t h = layer.width;
  std::vector<double> y(x.size());
  for (const Routed& row : rows) {
    const std::vector<float> w = layer.weight(row.expert);
    for (std::int64_t out = 0; out < h; ++out) {
      double sum = 0;
      for (std::int64_t in = 0; in < h; ++in)
        sum += double{x[static_cast<std::size_t>(row.token * h + in)]} *
               double{w[static_cast<std::size_t>(in * h + out)]};
      y[static_cast<std::size_t>(row.token * h + out)] += double{row.gate} * sum;
    }
  }
  std::vector<NamedTensor> named(1);
  named[0] = {"y", from_host(std::vector<float>(y.begin(), y.end()), {layer.tokens(rank), h})};
  return named;
}

std::vector<Mistake> mistakes_of(const MoeLayer& layer, int rank) {
  const auto with_gates = [=](auto gate_of) {
    std::vector<Routed> rows = layer.routed(rank);
    std::vector<float> sums(static_cast<std::size_t>(layer.tokens(rank)));
    for (const Routed& row : rows) sums[static_cast<std::size_t>(row.token)] += row.gate;
    for (Routed& row : rows) row.gate = gate_of(row, sums[static_cast<std::size_t>(row.token)]);
    return y_of(layer, rank, rows);
  };
  return {
      {{"weighted-by-gates", "that is the sum of the experts' outputs, not weighted by the gates"},
       [=] { return with_gates([](const Routed&, float) { return 1.0F; }); }},
      {{"gates-as-they-are",
        "that is with gates that add up to 1: here a gate is the probability among all experts"},
       [=] { return with_gates([](const Routed& row, float sum) { return row.gate / sum; }); }},
      {{"beyond-capacity",
        "that is with the rows that are beyond the capacity: an expert takes no more of each rank"},
       [=] {
         MoeLayer unlimited = layer;
         unlimited.capacity = std::numeric_limits<std::int64_t>::max();
         return y_of(layer, rank, unlimited.routed(rank));
       }},
      {{"first-choices-first",
        "that is with all choices of a token before the next token: the first choices of all "
        "tokens come before any second one"},
       [=] { return y_of(layer, rank, layer.routed(rank, Order::kTokens)); }},
      {{"own-experts-alone",
        "that is the share of this rank's experts alone: rows for others must travel"},
       [=] {
         std::vector<Routed> rows = layer.routed(rank);
         std::erase_if(
             rows, [=](const Routed& row) { return row.expert / layer.experts_of_rank() != rank; });
         return y_of(layer, rank, rows);
       }}};
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  const MoeLayer layer = layer_with_choices(example);
  const int rank = dist.rank();
  const std::int64_t h = layer.width;
  Tensor y = full({layer.tokens(rank), h}, std::numeric_limits<float>::quiet_NaN());
  function(dist, from_host(layer.rows("x", rank), {layer.tokens(rank), h}), layer.scores(rank),
           layer.weights(rank), layer.k, layer.capacity, y);

  std::vector<NamedTensor> actual(1);
  actual[0] = {"y", std::move(y)};
  return compare_tensors(
      actual, y_of(layer, rank, layer.routed(rank)), kBound, mistakes_of(layer, rank),
      {"order-of-rows",
       "Σ gate · x W: is every row with its expert, and does what comes back reach its token? Rows "
       "arrive by rank, and from each rank by expert; they come back in the order they left"});
}

NativeCalls calls(const Case& example, int rank) {
  const MoeLayer layer = layer_with_choices(example);
  // Counts of 8 bytes are twice as many elements. The way back is as long.
  const std::int64_t elements = layer.width * layer.traffic().busiest(rank);
  return {{CollectiveKind::kAllToAll, 2 * layer.experts},
          {CollectiveKind::kAllToAllV, elements},
          {CollectiveKind::kAllToAllV, elements}};
}

}  // namespace

Family family::moe_dispatch_combine() {
  Subject subject = subject_with_calls(cases, calls, {check_of_calls(calls)});
  subject.count_to_show = 16;
  return make_family<Function>("moe_dispatch_combine",
                               "(Comm& dist, const Tensor& x, const Tensor& scores, const Tensor& "
                               "weights, int k, std::int64_t capacity, Tensor& y)",
                               subject, run);
}

}  // namespace rankbox
