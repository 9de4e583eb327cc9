#include "verdict/tensor_parallel/whole_and_parts.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "training/random.h"
#include "verdict/compare.h"
#include "verdict/tables.h"

namespace rankbox {

namespace {

constexpr float kSame = 1e-4f;  // to a guess: its sum may have been rounded in another order

/// The first element that is further away; -1: none. NaN is.
std::int64_t first_beyond(float bound, const Tensor& a, const Tensor& b) {
  for (std::int64_t i = 0; i < b.size(); ++i) {
    if (!(std::abs(a.data()[i] - b.data()[i]) <= bound)) return i;
  }
  return -1;
}

bool is_same(const Tensor& a, const Tensor& b) {
  return a.size() == b.size() && first_beyond(kSame, a, b) == -1;
}

}  // namespace

std::vector<Case> cases_by_rows(const std::vector<std::int64_t>& counts) {
  std::vector<Case> cases;
  for (const int world_size : world_sizes()) {
    for (const std::int64_t rows : counts) {
      Case example;
      example.world_size = world_size;
      example.count = rows;
      cases.push_back(example);
    }
  }
  return cases;
}

Tensor small_values(const Shape& shape, std::string_view name) {
  Random random = Random(11).stream(name);
  Tensor made(shape);
  for (std::int64_t i = 0; i < made.size(); ++i)
    made.data()[i] = static_cast<float>(random.below(5) - 2) / 2;
  return made;
}

Tensor scaled(const Tensor& tensor, float factor) {
  Tensor made = clone(tensor);
  for (std::int64_t i = 0; i < made.size(); ++i) made.data()[i] *= factor;
  return made;
}

Tensor weighted_sum(float factor, const Tensor& a, const Tensor& b) {
  Tensor made = clone(b);
  for (std::int64_t i = 0; i < made.size(); ++i) made.data()[i] += factor * a.data()[i];
  return made;
}

Passes run_alone(Layer& layer, Tensor x, Tensor dy, const Pass& pass) {
  Saved saved(pass);
  Passes passes;
  passes.y = layer.forward(std::move(x), saved);
  passes.dx = layer.backward(std::move(dy), saved);
  return passes;
}

std::optional<Difference> compare_tensor(const std::string& what, const Tensor& actual,
                                         const Tensor& expected, float bound,
                                         const std::vector<Guess>& guesses, const char* otherwise) {
  auto difference = compare_size(what.c_str(), actual, expected.size());
  if (!difference) {
    const std::int64_t i = first_beyond(bound, actual, expected);
    if (i == -1) return std::nullopt;
    difference = Difference{what, i, in_words(expected.data()[i]), in_words(actual.data()[i]), ""};
  }
  difference->hint = otherwise;
  for (const Guess& guess : guesses) {
    if (is_same(guess.tensor, expected) || !is_same(actual, guess.tensor)) continue;
    difference->hint = guess.hint;
    break;
  }
  return difference;
}

void start_gradients(const std::vector<Parameter*>& parameters) {
  for (Parameter* parameter : parameters)
    parameter->gradient = full(parameter->value.shape(), kGradientBefore);
}

std::optional<Difference> compare_parameters(const std::vector<ParameterCheck>& all, float bound,
                                             int world_size) {
  const auto p = static_cast<float>(world_size);
  for (const ParameterCheck& check : all) {
    const std::string name = check.name;
    const Tensor& right = check.gradient;
    const Tensor before = full(right.shape(), kGradientBefore);
    const Tensor added = weighted_sum(-1, before, right);
    const char* const summed =
        "p times as much was added: summed over ranks that all had the whole of it?";
    const char* const averaged =
        "what was added is divided by p: all ranks work on the same batch, so there is no mean to "
        "take";
    std::vector<Guess> guesses = check.guesses;
    for (const auto& [hint, factor] : {std::pair(summed, p), std::pair(averaged, 1 / p)}) {
      guesses.push_back({hint, scaled(right, factor)});
      guesses.push_back({hint, weighted_sum(factor, added, before)});
    }
    guesses.push_back({"what was there before is gone: backward adds to gradients", added});
    guesses.push_back({"nothing was added to it", before});
    auto difference =
        compare_tensor("gradient (begun with 1) of " + name, check.actual->gradient, check.gradient,
                       bound, guesses,
                       "it is what the whole layer on one rank has at this place, with nothing to "
                       "add up or divide");
    if (difference) return difference;
    difference = compare_tensor(name + "'s value", check.actual->value, check.value, 0, {},
                                "the optimizer's to change: it has to stay as it was");
    if (difference) return difference;
  }
  return std::nullopt;
}

std::optional<Difference> compare_saved(const Saved& saved) {
  if (saved.empty()) return std::nullopt;
  return Difference{"what forward has saved", -1, "all of it popped by backward",
                    fmt::format("{} bytes left over", saved.bytes()),
                    "each layer's backward pops what its forward has pushed: in reverse order"};
}

}  // namespace rankbox
