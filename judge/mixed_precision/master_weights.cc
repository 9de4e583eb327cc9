// Judges master_weights: small steps accumulate in 32 bits; weights are the rounded result.
#include "parallel/master_weights.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "comm/comm.h"
#include "judge/compare.h"
#include "judge/salt.h"
#include "judge/training/parameters.h"
#include "judge/training_families.h"

namespace rankbox {

namespace {

using Function = decltype(&master_weights);

/// The numbers of a case.
struct Rates {
  float scale = 1024;
  float learning_rate = 0.01F;
  int least = 1;      // of the small numbers that gradients are multiples of
  bool wide = false;  // gradients and weights are of every size and sign, or not finite
};

constexpr std::int64_t kMostOfMostCases = 1000;  // the case of wide numbers has more elements

Rates rates_of(const Case& example) {
  // The scale of the smallest case is no power of two.
  Rates rates = *example.count == 1 ? Rates{1000, 0.03F} : Rates{};
  rates.scale =
      static_cast<float>(drawn("scale", static_cast<std::int64_t>(rates.scale), 300, 20'000));
  const auto per_mille = std::lround(1000 * rates.learning_rate);
  rates.learning_rate = static_cast<float>(drawn("learning rate", per_mille, 4, 40)) / 1000;
  if (*example.count > kMostOfMostCases) {
    rates.scale = static_cast<float>(drawn("large scale", 100'000, 70'000, 120'000)) + 0.5F;
    rates.wide = true;
    return rates;
  }
  // One step may have a scale that was halved until it was below 1, and gradients of 0.
  if (*example.count > 1 && *example.steps == 1) {
    rates.scale /= 4096;
    rates.least = 0;
  }
  return rates;
}

/// Returns element i of random numbers, between 2^least and 2^(most + 1) in magnitude.
float wide_number(const char* use, std::int64_t i, int least, int most) {
  const Random random = salted(use).stream(static_cast<std::uint64_t>(i));
  const auto exponent = least + static_cast<int>(random.at(0) % (most - least + 1U));
  const float eighths = 1 + static_cast<float>(random.at(1) % 8) / 8;
  return std::ldexp(random.at(2) % 2 == 0 ? eighths : -eighths, exponent);
}

float weight(std::int64_t i, const Rates& rates) {
  // A step from 0 shows, however small it is.
  if (rates.wide) return i % 2 == 0 ? 0 : wide_number("wide weights", i, -30, 18);
  const auto eighths =
      salt() == 0
          ? i % 7
          : static_cast<std::int64_t>(salted("weights").at(static_cast<std::uint64_t>(i)) % 7);
  return 1 + static_cast<float>(eighths) / 8;
}

/// Too small for 16 bits unless scaled; a step along it is too small for a 16-bit weight.
Float16 scaled_gradient(std::int64_t i, int step, const Rates& rates) {
  if (rates.wide) {
    if (i % 11 == 10) return Float16(std::numeric_limits<float>::quiet_NaN());
    if (i % 13 == 12) return Float16(std::numeric_limits<float>::infinity());
    return Float16(wide_number("wide gradients", i, -24, 14));
  }
  std::int64_t number = i % 5;
  if (salt() != 0) {
    const Random random = salted("gradients").stream(static_cast<std::uint64_t>(step));
    number = static_cast<std::int64_t>(random.at(static_cast<std::uint64_t>(i)) % 5);
  }
  return Float16(rates.scale * 0.002F * static_cast<float>(number + rates.least));
}

/// Returns by how much all steps together lower a weight.
float sum_of_steps(std::int64_t i, int steps, const Rates& rates) {
  double sum = 0;
  for (int step = 0; step < steps; ++step)
    sum += static_cast<float>(scaled_gradient(i, step, rates));
  return static_cast<float>(rates.learning_rate * sum / rates.scale);
}

Hint origin(float is, std::int64_t i, int steps, const Rates& rates) {
  const float before = weight(i, rates);
  if (is == before)
    return {"steps-lost-in-16-bits", "it stands still: steps this small add up in 32 bits only"};
  const float unscaled = before - sum_of_steps(i, steps, rates) * rates.scale;
  if (std::abs(is - unscaled) <= 1e-3f * std::abs(unscaled))
    return {"loss-scale-times-too-large", "the gradient is loss_scale times too large: divide"};
  return {};
}

std::vector<Case> cases() {
  std::vector<Case> cases;
  for (const int steps : {1, 500}) {
    for (const std::int64_t count : {std::int64_t{0}, std::int64_t{1}, drawn("count", 97, 2, 150)})
      cases.push_back({.count = count, .steps = steps});
  }
  cases.push_back({.count = drawn("large count", 5000, 4200, 6000), .steps = 1});
  return cases;
}

std::optional<Difference> run(Function function, Comm& /*dist*/, const Case& example) {
  const std::int64_t count = *example.count;
  const int steps = *example.steps;
  const Rates rates = rates_of(example);
  std::vector<Float16> rounded;
  std::vector<float> exact;
  for (std::int64_t i = 0; i < count; ++i) {
    // A step writes all weights, also where the gradient is 0.
    rounded.emplace_back(rates.least == 0 ? 0 : weight(i, rates));
    exact.push_back(weight(i, rates));
  }
  const Shape shape = parameter_shape(count);
  TensorOf<Float16> weights = from_host(rounded, shape);
  Tensor master = from_host(exact, shape);

  for (int step = 0; step < steps; ++step) {
    std::vector<Float16> gradient;
    for (std::int64_t i = 0; i < count; ++i) gradient.push_back(scaled_gradient(i, step, rates));
    function(from_host(gradient, shape), rates.scale, rates.learning_rate, master, weights);
  }

  if (auto wrong = compare_shape("master", master.shape(), shape)) return wrong;
  if (auto wrong = compare_shape("weights", weights.shape(), shape)) return wrong;
  exact = to_host(master);
  rounded = to_host(weights);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const float moved = sum_of_steps(i, steps, rates);
    const float is = exact[k];
    const float before = weight(i, rates), should_be = before - moved;
    // Each subtraction rounds by far less than a step, or to the last bits of a wide number.
    const float bound =
        rates.wide ? 1e-6F * (std::abs(before) + std::abs(moved)) : 0.02F * std::abs(moved);
    const bool right = std::isfinite(should_be) ? std::abs(is - should_be) <= bound
                                                : is_same_number(is, should_be);
    if (!right) {
      return Difference{fmt::format("master after {} steps", steps), i, in_words(should_be),
                        in_words(is), origin(is, i, steps, rates)};
    }
    const auto actual = static_cast<float>(rounded[k]),
               as_rounded = static_cast<float>(Float16(is));
    if (is_same_number(actual, as_rounded)) continue;
    return Difference{
        fmt::format("weights after {} steps", steps),
        i,
        in_words(as_rounded),
        in_words(actual),
        {"weights-are-rounded-master", "weights are the master's values, rounded to 16 bits"}};
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
