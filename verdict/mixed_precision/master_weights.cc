// Judges master_weights: small steps accumulate in 32 bits; weights are the rounded result.
#include <cmath>

#include <fmt/format.h>

#include "comm/comm.h"
#include "verdict/compare.h"
#include "verdict/mixed_precision/families.h"
#include "verdict/salt.h"

namespace rankbox {

namespace {

using Function = void (*)(const TensorOf<Float16>& gradient, float loss_scale, float learning_rate,
                          Tensor& master, TensorOf<Float16>& weights);

/// The two numbers of a case.
struct Rates {
  float scale = 1024;
  float learning_rate = 0.01F;
};

Rates rates_of(const Case& example) {
  // The scale of the smallest case is no power of two.
  Rates rates = *example.count == 1 ? Rates{1000, 0.03F} : Rates{};
  rates.scale =
      static_cast<float>(drawn("scale", static_cast<std::int64_t>(rates.scale), 300, 20'000));
  const auto per_mille = std::lround(1000 * rates.learning_rate);
  rates.learning_rate = static_cast<float>(drawn("learning rate", per_mille, 4, 40)) / 1000;
  return rates;
}

float weight(std::int64_t i) {
  return 1 + static_cast<float>((i + drawn("weights", 0, 0, 6)) % 7) / 8;
}

/// Too small for 16 bits unless scaled; a step along it is too small for a 16-bit weight.
float scaled_gradient(std::int64_t i, float scale) {
  const auto turn = (i + drawn("gradients", 0, 0, 4)) % 5;
  return static_cast<float>(Float16(scale * 0.002F * static_cast<float>(turn + 1)));
}

float step_of(std::int64_t i, const Rates& rates) {
  return rates.learning_rate * scaled_gradient(i, rates.scale) / rates.scale;
}

std::string origin(float is, std::int64_t i, int steps, const Rates& rates) {
  if (is == weight(i)) return "it stands still: steps this small add up in 32 bits only";
  const auto after = [&](float step) { return weight(i) - static_cast<float>(steps) * step; };
  const auto near = [&](float value) { return std::abs(is - value) <= 1e-3f * std::abs(value); };
  if (near(after(step_of(i, rates) * rates.scale)))
    return "the gradient is loss_scale times too large: divide";
  return "";
}

std::vector<Case> cases() {
  std::vector<Case> cases;
  for (const int steps : {1, 500}) {
    for (const std::int64_t count : {std::int64_t{0}, std::int64_t{1}, drawn("count", 97, 2, 150)})
      cases.push_back({.count = count, .steps = steps});
  }
  return cases;
}

std::optional<Difference> run(Function function, Comm& /*dist*/, const Case& example) {
  const std::int64_t count = *example.count;
  const int steps = *example.steps;
  const Rates rates = rates_of(example);
  std::vector<Float16> gradients, rounded;
  std::vector<float> exact;
  for (std::int64_t i = 0; i < count; ++i) {
    gradients.emplace_back(scaled_gradient(i, rates.scale));
    rounded.emplace_back(weight(i));
    exact.push_back(weight(i));
  }
  const TensorOf<Float16> gradient = from_host(gradients);
  TensorOf<Float16> weights = from_host(rounded);
  Tensor master = from_host(exact);

  for (int step = 0; step < steps; ++step)
    function(gradient, rates.scale, rates.learning_rate, master, weights);

  exact = to_host(master);
  rounded = to_host(weights);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const float moved = static_cast<float>(steps) * step_of(i, rates);
    const float is = exact[k];
    // Each subtraction rounds by far less than a step.
    if (!(std::abs(is - (weight(i) - moved)) <= 0.02f * moved)) {
      return Difference{fmt::format("master after {} steps", steps), i, in_words(weight(i) - moved),
                        in_words(is), origin(is, i, steps, rates)};
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
