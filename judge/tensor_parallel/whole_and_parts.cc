#include "judge/tensor_parallel/whole_and_parts.h"

#include <fmt/format.h>

#include "judge/case_lists.h"
#include "judge/salt.h"
#include "judge/training/known_mistakes.h"
#include "parallel/layer_shards.h"
#include "training/random.h"

namespace rankbox {

namespace {

constexpr float kSame = 1e-4f;  // to a guess: its sum may be rounded in another order

/// Compares gradients, with hints on sums and means over ranks, and checks that values are
/// unchanged.
std::optional<Difference> compare_parameter(const ParameterCheck& check, float begun, float bound,
                                            int world_size) {
  const auto p = static_cast<float>(world_size);
  const Tensor& right = check.gradient;
  const Tensor before = full(right.shape(), begun);
  const Tensor added = weighted_sum(-1, before, right);
  const Hint summed = {
      "added-p-times",
      "p times as much was added: summed over ranks that all had the whole of it?"};
  const Hint averaged = {
      "added-divided-by-p",
      "what was added is divided by p: all ranks work on the same batch, so there is no mean to "
      "take"};
  std::vector<Guess> guesses = check.guesses;
  for (const auto& [hint, factor] : {std::pair(summed, p), std::pair(averaged, 1 / p)}) {
    guesses.push_back({hint, scaled(right, factor)});
    guesses.push_back({hint, weighted_sum(factor, added, before)});
  }
  guesses.push_back(
      {{"gradient-overwritten", "what was there before is gone: backward adds to gradients"},
       added});
  guesses.push_back({{"nothing-added", "nothing was added to it"}, before});
  const char* const of = begun == 0 ? "gradient of " : "gradient (begun with 1) of ";
  auto wrong = compare_tensor(of + check.name, check.actual->gradient,
                              {right,
                               guesses,
                               {"gradient-of-whole-layer",
                                "it is what the whole layer on one rank has at this place, with "
                                "nothing to add up or divide"}},
                              bound);
  if (wrong) return wrong;
  return compare_tensor(
      check.name + "'s value", check.actual->value,
      {check.value, {}, {"value-unchanged", "the optimizer's to change: it has to stay as it was"}},
      0);
}

}  // namespace

std::vector<Case> cases_by_rows(const std::vector<std::int64_t>& counts) {
  std::vector<Case> some;
  for (const std::int64_t rows : counts) some.push_back({.count = rows});
  if (salt() != 0) some.push_back({.count = drawn("rows", 0, counts.back() + 1, 12)});
  return cases_with_each(some);
}

Tensor small_values(const Shape& shape, std::string_view name) {
  Random random = Random(11 ^ salt()).stream(name);
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  for (float& value : values) value = static_cast<float>(random.below(5) - 2) / 2;
  return from_host(values, shape);
}

Tensor scaled(const Tensor& tensor, float factor) {
  Tensor made = clone(tensor);
  made *= factor;
  return made;
}

Tensor weighted_sum(float factor, const Tensor& a, const Tensor& b) {
  const std::vector<float> from = to_host(a);
  std::vector<float> sum = to_host(b);
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += factor * from[i];
  return from_host(sum, b.shape());
}

Passes run_alone(Layer& layer, Tensor x, Tensor dy, const Pass& pass) {
  Saved saved(pass);
  Passes passes;
  passes.y = layer.forward(std::move(x), saved);
  passes.dx = layer.backward(std::move(dy), saved);
  return passes;
}

std::optional<Difference> compare_tensor(const std::string& what, const Tensor& actual,
                                         const TensorCheck& check, float bound) {
  std::vector<Mistake> mistakes;
  for (const Guess& guess : check.guesses) {
    mistakes.push_back({guess.hint, [&] {
                          return std::vector<NamedTensor>{{what, guess.tensor}};
                        }});
  }
  return compare_tensors({{what, actual}}, {{what, check.expected}}, bound, mistakes,
                         check.otherwise, kSame);
}

std::vector<Guess> mistakes_of_sum(const Tensor& y, const Tensor& own_product, const Tensor& bias,
                                   int world_size, const HintsOfSum& hints) {
  const auto ranks = static_cast<float>(world_size);
  Tensor b = zeros(y.shape());  // the bias in every row
  add_bias(b, bias);
  const Tensor product = weighted_sum(-1, b, y);
  return {
      {hints.alone, weighted_sum(1, own_product, b)},
      {{"bias-p-times", "the bias is in it p times: it was added on every rank, before the sum"},
       weighted_sum(ranks, b, product)},
      {{"bias-missing", "the bias is missing"}, product},
      {hints.mean, weighted_sum(1 / ranks, product, b)}};
}

float gradient_before(std::int64_t rows) {
  return rows == kRowsOfNoGradients ? 0 : kGradientBefore;
}

void start_gradients(const std::vector<Parameter*>& parameters, float before) {
  if (before == 0) return;
  for (Parameter* parameter : parameters)
    parameter->gradient = full(parameter->value.shape(), before);
}

std::optional<Difference> compare_shard(const Passes& actual, const Saved& saved,
                                        const TensorCheck& y, const TensorCheck& dx,
                                        const std::vector<ParameterCheck>& parameters,
                                        float gradient_before, float bound, int world_size) {
  if (auto wrong = compare_tensor("forward: y", actual.y, y, bound)) return wrong;
  if (auto wrong = compare_tensor("backward: dx", actual.dx, dx, bound)) return wrong;
  for (const ParameterCheck& parameter : parameters) {
    if (auto wrong = compare_parameter(parameter, gradient_before, bound, world_size)) return wrong;
  }
  if (saved.empty()) return std::nullopt;
  return Difference{"what forward has saved",
                    -1,
                    "all of it popped by backward",
                    fmt::format("{} bytes left over", saved.bytes()),
                    {"backward-pops",
                     "each layer's backward pops what its forward has pushed: in reverse order"}};
}

}  // namespace rankbox
