// Judges master_weights: small steps accumulate in 32 bits; weights are the rounded result.
#include <cmath>

#include <fmt/format.h>

#include "comm/comm.h"
#include "verdict/compare.h"
#include "verdict/mixed_precision/families.h"

namespace rankbox {

namespace {

using Function = void (*)(const TensorOf<Float16>& gradient, float loss_scale, float learning_rate,
                          Tensor& master, TensorOf<Float16>& weights);

constexpr float kScale = 1024;
constexpr float kRate = 0.01f;

float weight(std::int64_t i) { return 1 + static_cast<float>(i % 7) / 8; }

/// Too small for 16 bits unless scaled; a step along it is too small for a 16-bit weight.
float scaled_gradient(std::int64_t i) {
  return static_cast<float>(Float16(kScale * 0.002f * static_cast<float>(i % 5 + 1)));
}

float step_of(std::int64_t i) { return kRate * scaled_gradient(i) / kScale; }

std::string origin(float is, std::int64_t i, int steps) {
  if (is == weight(i)) return "it stands still: steps this small add up in 32 bits only";
  const auto after = [&](float step) { return weight(i) - static_cast<float>(steps) * step; };
  const auto near = [&](float value) { return std::abs(is - value) <= 1e-3f * std::abs(value); };
  if (near(after(step_of(i) * kScale))) return "the gradient is loss_scale times too large: divide";
  return "";
}

std::vector<Case> cases() {
  std::vector<Case> cases;
  for (const int steps : {1, 500}) {
    for (const std::int64_t count : {0, 1, 97}) cases.push_back({.count = count, .steps = steps});
  }
  return cases;
}

std::optional<Difference> run(Function function, Comm& /*dist*/, const Case& example) {
  const std::int64_t count = *example.count;
  const int steps = *example.steps;
  std::vector<Float16> gradients, rounded;
  std::vector<float> exact;
  for (std::int64_t i = 0; i < count; ++i) {
    gradients.emplace_back(scaled_gradient(i));
    rounded.emplace_back(weight(i));
    exact.push_back(weight(i));
  }
  const TensorOf<Float16> gradient = from_host(gradients);
  TensorOf<Float16> weights = from_host(rounded);
  Tensor master = from_host(exact);

  for (int step = 0; step < steps; ++step) function(gradient, kScale, kRate, master, weights);

  exact = to_host(master);
  rounded = to_host(weights);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const float moved = static_cast<float>(steps) * step_of(i);
    const float is = exact[k];
    // Each subtraction rounds by far less than a step.
    if (!(std::abs(is - (weight(i) - moved)) <= 0.02f * moved)) {
      return Difference{fmt::format("master after {} steps", steps), i, in_words(weight(i) - moved),
                        in_words(is), origin(is, i, steps)};
    }
    if (rounded[k].bits() == Float16(is).bits()) continue;
    return Difference{fmt::format("weights after {} steps", steps), i,
                      in_words(static_cast<float>(Float16(is))),
                      in_words(static_cast<float>(rounded[k])),
                      "weights are the master's values, rounded to 16 bits"};
  }
  return std::nullopt;
}

}  // namespace

Family family::master_weights() {
  return make_family<Function>(
      "master_weights",
      "(const TensorOf<Float16>& gradient, float loss_scale, float learning_rate, Tensor& master, "
      "TensorOf<Float16>& weights)",
      {.cases = cases, .sends_messages = false}, run);
}

}  // namespace rankbox
