// Judges stochastic_rounding: weights equal the contract's, bit for bit, on replicas and shards.
#include "parallel/stochastic_rounding.h"

#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "comm/comm.h"
#include "judge/case_lists.h"
#include "judge/compare.h"
#include "judge/salt.h"
#include "judge/training/parameters.h"
#include "judge/training_families.h"
#include "training/random.h"

namespace rankbox {

namespace {

using Function = decltype(&stochastic_rounding);

constexpr std::uint32_t kInfinityBits = 0x7f800000;
constexpr std::int64_t kLarge = 97;  // from here on, seeds, steps and numbers take all their bits

/// The numbers of a case that are the same on all ranks.
struct Run {
  std::uint64_t seed = 0;
  float learning_rate = 0;
  std::int64_t first_step = 0;
  std::int64_t base = 0;  // the number of rank 0's first weight
};

Run run_of(const Case& example) {
  Run run;
  run.seed = static_cast<std::uint64_t>(drawn("seed", 42, 0, 1 << 30));
  // Few bits: its products are exact, so fused and separate operations give the same.
  run.learning_rate = static_cast<float>(drawn("learning rate", 5, 2, 9)) / 256;
  run.first_step = drawn("step", 10, 1, 1000) * example.world_size;
  if (*example.count >= kLarge) {
    run.seed += (std::uint64_t{1} << 63) + (std::uint64_t{1} << 40);
    run.first_step += (std::int64_t{1} << 62) + (std::int64_t{3} << 32);
    run.base = (std::int64_t{1} << 62) + (std::int64_t{5} << 32);
  }
  return run;
}

enum class Special { kNone, kNan, kInfinite, kLargest, kTiny };

Special special_of(std::int64_t number) {
  switch (number % 11) {
    case 3:
      return Special::kNan;
    case 5:
      return Special::kLargest;
    case 7:
      return Special::kInfinite;
    case 9:
      return Special::kTiny;
    default:
      return Special::kNone;
  }
}

float sign_of(std::int64_t number) { return number % 4 < 2 ? 1.0F : -1.0F; }

/// Returns a number below `many` for this element and step: random under a salt, otherwise
/// (number + step) % many.
float drawn_at(const char* use, std::int64_t number, std::int64_t step, std::int64_t many) {
  if (salt() == 0) return static_cast<float>((number + step) % many);
  const Random random = salted(use).stream(static_cast<std::uint64_t>(step));
  const std::uint64_t bits = random.at(static_cast<std::uint64_t>(number));
  return static_cast<float>(bits % static_cast<std::uint64_t>(many));
}

float weight(std::int64_t number) {
  const float eighths = drawn_at("weights", number, 0, 7);
  switch (special_of(number)) {
    case Special::kInfinite:
      return sign_of(number) * std::numeric_limits<float>::infinity();
    case Special::kLargest:
      return sign_of(number) * std::bit_cast<float>(0x7f7f0000);
    case Special::kTiny:  // subnormal
      return sign_of(number) * 0x1p-130F;
    default:
      return sign_of(number) * (1 + eighths / 8);
  }
}

/// A step along it is about the distance of two weights, or less. Products with the rate are exact.
float slope(std::int64_t number, std::int64_t step, const Run& run) {
  const float sixteenths = (drawn_at("slopes", number, step, 5) + 1) / 16;
  switch (special_of(number)) {
    case Special::kNan:
      return std::bit_cast<float>(0x7fffffff);  // a GPU's NaN
    case Special::kLargest:                     // away from zero, by 0.5 to 1 of the distance
      return -sign_of(number) * std::ldexp(1.0F, 119 - std::ilogb(run.learning_rate));
    case Special::kTiny:  // by a part of the distance
      return sign_of(number) * std::ldexp(1.0F, -134 - std::ilogb(run.learning_rate));
    default:
      return (number % 2 == 0 ? -1.0F : 1.0F) * (sixteenths + 0x3p-14F);
  }
}

/// What a program may do with the exact value; kRight is the contract.
enum class Rule { kRight, kNearest, kTruncated, kByPlace, kSameForAll, kSameInAllSteps };

float rounded(float exact, std::uint32_t r, Rule rule) {
  const auto bits = std::bit_cast<std::uint32_t>(exact);
  if (!std::isfinite(exact) || rule == Rule::kNearest) return BFloat16(exact);
  if (rule == Rule::kTruncated) r = 0;
  const std::uint32_t sum = bits + r;
  const bool is_finite = (sum & kInfinityBits) != kInfinityBits;
  return std::bit_cast<float>((is_finite ? sum : bits) & 0xffff0000);
}

/// Returns the weight after the steps. @param place in the rank's part
float weight_after(std::int64_t number, std::int64_t place, int steps, const Run& run, Rule rule) {
  float value = weight(number);
  const std::int64_t drawn_number = rule == Rule::kByPlace      ? place
                                    : rule == Rule::kSameForAll ? number - place
                                                                : number;
  for (std::int64_t step = run.first_step; step < run.first_step + steps; ++step) {
    Random random(run.seed);
    if (rule != Rule::kSameInAllSteps) random = random.stream(static_cast<std::uint64_t>(step));
    const std::uint64_t r = random.at(static_cast<std::uint64_t>(drawn_number)) >> 48;
    const float exact = value - run.learning_rate * slope(number, step, run);
    value = rounded(exact, static_cast<std::uint32_t>(r), rule);
  }
  return value;
}

/// A rank's part of the weights after the steps.
struct Part {
  const Run& run;
  int steps = 0;
  std::int64_t first = 0;
  std::vector<BFloat16> weights = {};

  float after(std::int64_t i, Rule rule) const {
    return weight_after(first + i, i, steps, run, rule);
  }
  bool is_made_by(Rule rule) const {
    for (std::int64_t i = 0; i < std::ssize(weights); ++i) {
      if (!is_same_number(weights[static_cast<std::size_t>(i)], after(i, rule))) return false;
    }
    return true;
  }
};

Hint origin(const Part& part, float is, float expected) {
  if (part.is_made_by(Rule::kNearest))
    return {"rounded-to-nearest",
            "rounded to nearest: steps smaller than half the distance of two weights are lost"};
  if (part.is_made_by(Rule::kTruncated))
    return {"rounded-towards-zero",
            "the lower half is dropped: always towards zero, also on average"};
  if (part.is_made_by(Rule::kSameForAll))
    return {"one-random-number-for-all",
            "each weight has another random number: that of first + i"};
  if (part.is_made_by(Rule::kByPlace))
    return {"random-number-of-place",
            "r belongs to the number of the weight in the model, first + i, not to its place here"};
  if (part.is_made_by(Rule::kSameInAllSteps))
    return {"same-random-numbers-each-step", "each step has other random numbers"};
  if (std::isnan(expected))
    return {"nan-stays-nan", "a NaN stays one: random bits must not carry into its sign"};
  if (std::isinf(expected)) return {"infinity-stays-infinite", "an infinite value stays infinite"};
  if (std::isinf(is))
    return {"finite-stays-finite",
            "a finite value stays finite: where r carries beyond the largest, leave it out"};
  return {
      "stochastic-rounding-rule",
      "r = Random(seed).stream(step).at(first + i) >> 48, added to the bits of the exact value"};
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const int world_size : {1, 2, 3, 4}) {
    all.push_back({.world_size = world_size, .count = drawn("count", 24, 20, 40), .steps = 1});
    all.push_back({.world_size = world_size, .count = 1, .steps = 20});
    all.push_back({.world_size = world_size, .count = 8, .steps = 200});
    all.push_back(
        {.world_size = world_size, .count = drawn("large count", 150, kLarge, 200), .steps = 20});
  }
  return all;
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  const Run run = run_of(example);
  const int steps = *example.steps;
  // Ranks 0 and 1 are replicas, 2 and 3, …: each pair has a part of the model.
  const std::int64_t parts = (example.world_size + 1) / 2;
  const std::int64_t part = dist.rank() / 2;
  const std::int64_t begin = *example.count * part / parts;
  const std::int64_t end = *example.count * (part + 1) / parts;
  const std::int64_t first = run.base + begin;

  std::vector<BFloat16> values;
  for (std::int64_t i = begin; i < end; ++i) values.emplace_back(weight(run.base + i));
  const Shape shape = parameter_shape(end - begin);
  TensorOf<BFloat16> weights = from_host(values, shape);
  for (std::int64_t step = run.first_step; step < run.first_step + steps; ++step) {
    std::vector<float> slopes;
    for (std::int64_t i = begin; i < end; ++i) slopes.push_back(slope(run.base + i, step, run));
    function(from_host(slopes, shape), run.learning_rate, run.seed, step, first, weights);
  }

  if (auto wrong = compare_shape("weights", weights.shape(), shape)) return wrong;
  const Part result{run, steps, first, to_host(weights)};
  for (std::int64_t i = 0; i < end - begin; ++i) {
    const float is = result.weights[static_cast<std::size_t>(i)];
    const float expected = result.after(i, Rule::kRight);
    if (is_same_number(is, expected)) continue;
    return Difference{fmt::format("weights after {} {}", steps, steps == 1 ? "step" : "steps"), i,
                      in_words(expected), in_words(is), origin(result, is, expected)};
  }
  return std::nullopt;
}

}  // namespace

Family family::stochastic_rounding() {
  return make_family<Function>(
      "stochastic_rounding",
      "(const Tensor& gradient, float learning_rate, std::uint64_t seed, std::int64_t step, "
      "std::int64_t first, TensorOf<BFloat16>& weights)",
      {.cases = cases, .sends_messages = false}, run);
}

}  // namespace rankbox
