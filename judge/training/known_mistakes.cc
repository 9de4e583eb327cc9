#include "judge/training/known_mistakes.h"

#include <algorithm>
#include <cmath>

#include "judge/compare.h"
#include "training/cross_entropy.h"

namespace rankbox {

namespace {

std::optional<Difference> compare_near(const NamedTensor& actual, const NamedTensor& expected,
                                       float bound) {
  if (auto wrong = compare_size(actual.name, actual.value.size(), expected.value.size()))
    return wrong;
  const std::vector<float> is = to_host(actual.value);
  const std::vector<float> should_be = to_host(expected.value);
  // Rounding grows with the numbers that are added: those of a tensor are of one size.
  float largest = 1;
  for (const float each : should_be) largest = std::max(largest, std::abs(each));
  for (std::size_t i = 0; i < is.size(); ++i) {
    if (std::abs(is[i] - should_be[i]) <= bound * largest) continue;  // false for NaN
    return Difference{
        actual.name, static_cast<std::int64_t>(i), in_words(should_be[i]), in_words(is[i]), {}};
  }
  return std::nullopt;
}

std::optional<Difference> compare_all(const std::vector<NamedTensor>& actual,
                                      const std::vector<NamedTensor>& expected, float bound) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (auto difference = compare_near(actual[i], expected[i], bound)) return difference;
  }
  return std::nullopt;
}

std::optional<Difference> compare_shapes(const std::vector<NamedTensor>& actual,
                                         const std::vector<NamedTensor>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (auto wrong =
            compare_shape(actual[i].name, actual[i].value.shape(), expected[i].value.shape()))
      return wrong;
  }
  return std::nullopt;
}

}  // namespace

std::vector<NamedTensor> gradients_of(Sequential& model) {
  std::vector<NamedTensor> all;
  for (const Parameter* parameter : model.parameters())
    all.push_back({parameter->name + "'s gradient", parameter->gradient});
  return all;
}

std::vector<NamedTensor> values_of(const std::vector<Parameter*>& parameters) {
  std::vector<NamedTensor> all;
  for (const Parameter* parameter : parameters) all.push_back({parameter->name, parameter->value});
  return all;
}

std::optional<Difference> compare_tensors(const std::vector<NamedTensor>& actual,
                                          const std::vector<NamedTensor>& expected, float bound,
                                          const std::vector<Mistake>& mistakes,
                                          const Hint& otherwise, float same) {
  auto difference = compare_all(actual, expected, bound);
  if (!difference) return compare_shapes(actual, expected);
  difference->hint = otherwise;
  if (same == 0) same = bound;
  for (const Mistake& mistake : mistakes) {
    const std::vector<NamedTensor> wrong = mistake.tensors();
    const bool has_effect = compare_all(wrong, expected, same).has_value();
    if (!has_effect || compare_all(actual, wrong, same)) continue;
    difference->hint = mistake.hint;
    break;
  }
  return difference;
}

void add_weighted_gradients(Sequential& model, const std::vector<Weighted>& batches) {
  for (const auto& [batch, weight] : batches) {
    Saved saved(batch.pass(Mode::kTraining));
    const Tensor logits = model.forward(batch.x, saved);
    const auto counted = batch.size() - std::ranges::count(batch.labels, kIgnoredLabel);
    const double divisor = static_cast<double>(counted) / weight;
    model.backward(cross_entropy(logits, batch.labels, divisor).gradient, saved);
  }
}

}  // namespace rankbox
