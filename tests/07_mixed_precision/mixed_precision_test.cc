// Chapter 7, as an instructor would test it: values and costs that are worked out by hand, then the
// judge's rows. NAME_exercise_test runs a function's test cases on the learner's file.
//
// All numbers are powers of two, or a few bits: only what the chapter is about is rounded.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "parallel/bf16_gradients.h"
#include "parallel/dynamic_loss_scaling.h"
#include "parallel/loss_scaling.h"
#include "parallel/master_weights.h"
#include "parallel/stochastic_rounding.h"
#include "tests/support/judge_rows.h"
#include "tests/support/on_ranks.h"

namespace rankbox {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

constexpr double kBytes = 6 * sizeof(float);  // of a main gradient

/// Returns the main gradient after some steps. In each of them, rank r's micro-batches have the
/// gradients 256 (r + 1), 1, 1, 1, …
auto adding_up(int micro_batches, int steps = 1) {
  return [=](Comm& dist) {
    Tensor main_gradient = full(6, 7.0f);  // of an earlier step
    for (int step = 0; step < steps; ++step) {
      for (int i = 0; i < micro_batches; ++i) {
        const BFloat16 own(i == 0 ? 256 * (dist.rank() + 1) : 1);
        bf16_gradients(dist, from_host(std::vector<BFloat16>(6, own)), i, micro_batches,
                       main_gradient);
      }
    }
    return to_host(main_gradient);
  };
}

/// Returns the master's weight and the one in 16 bits, after steps along the same gradient.
Values learning(float weight, float scaled_gradient, float learning_rate, int steps) {
  const auto call = [=](Comm& /*dist*/) {
    Tensor master = full(1, weight);
    TensorOf<Float16> weights = from_host({Float16(weight)});
    for (int step = 0; step < steps; ++step)
      master_weights(from_host({Float16(scaled_gradient)}), 1024, learning_rate, master, weights);
    return Values{to_host(master)[0], to_host(weights)[0]};
  };
  return on_ranks(1, call).front();
}

constexpr std::int64_t kFirst = 100;  // these are weights 100 to 163 of a model
constexpr std::size_t kWeights = 64;

/// Returns 64 weights after step 3 of the run with seed 42. The learning rate is 1.
Values rounding(float weight, float gradient) {
  const auto call = [=](Comm& /*dist*/) {
    TensorOf<BFloat16> weights = from_host(std::vector<BFloat16>(kWeights, BFloat16(weight)));
    stochastic_rounding(full(kWeights, gradient), 1, 42, 3, kFirst, weights);
    const std::vector<BFloat16> rounded = to_host(weights);
    return Values(rounded.begin(), rounded.end());
  };
  return on_ranks(1, call).front();
}

/// Returns 1 + 2⁻⁷, the next BFloat16 after 1, for the weights whose r is at least this, and 1 for
/// the others.
Values up_from(std::uint64_t least) {
  Values values;
  for (std::uint64_t i = 0; i < kWeights; ++i) {
    const std::uint64_t r = Random(42).stream(3).at(kFirst + i) >> 48;
    values.push_back(r >= least ? 1 + 0x1p-7f : 1);
  }
  return values;
}

/// Returns both parameters' gradients. The scale is 1024; times that, rank r's are 1024 (60 + r),
/// 2⁻²⁰ (1 + r) and 1024 r.
Values unscaling(Comm& dist) {
  const auto rank = static_cast<float>(dist.rank());
  const std::vector<TensorOf<Float16>> scaled = {
      from_host({Float16(1024 * (60 + rank)), Float16(0x1p-20f * (1 + rank))}),
      from_host({Float16(1024 * rank)})};
  Parameter weight{"weight", zeros(2)};
  Parameter bias{"bias", zeros(1)};
  loss_scaling(dist, scaled, 1024, {&weight, &bias});
  Values gradients = to_host(weight.gradient);
  gradients.push_back(to_host(bias.gradient)[0]);
  return gradients;
}

/// Returns whether the step is skipped, the scale and the good steps afterwards. Rank 1 has this
/// gradient, the others have none. The scale is 8, and grows after 3 good steps.
auto adjusting(float gradient, int good_steps) {
  return [=](Comm& dist) {
    Parameter weight{"weight", zeros(1)};
    if (dist.rank() == 1) weight.gradient = full(1, gradient);
    LossScale scale{.scale = 8, .good_steps = good_steps, .growth_interval = 3};
    bool skip = std::isfinite(gradient);  // to be overwritten
    dynamic_loss_scaling(dist, {&weight}, scale, skip);
    return Values{skip ? 1.0f : 0.0f, scale.scale, static_cast<float>(scale.good_steps)};
  };
}

}  // namespace

TEST_CASE("bf16_gradients: judged") { judge_rows("bf16_gradients"); }

TEST_CASE("bf16_gradients: 256 + 1 is more than 256, and the mean is over ranks only") {
  CHECK(on_ranks(1, adding_up(4)) == every(1, Values(6, 256 + 1 + 1 + 1)));
  CHECK(on_ranks(2, adding_up(4)) == every(2, Values(6, (259 + 515) / 2)));
}

TEST_CASE("bf16_gradients: a step begins with micro-batch 0, not with the step before") {
  CHECK(on_ranks(2, adding_up(4, 3)) == every(2, Values(6, (259 + 515) / 2)));
}

TEST_CASE("bf16_gradients: one all-reduce of 32 bits, after the last micro-batch") {
  for (const int micro_batches : {1, 8}) {
    CAPTURE(micro_batches);
    const Cost cost = cost_of(4, adding_up(micro_batches));
    CHECK(cost.steps == 2);
    CHECK(cost.bytes == 2 * kBytes);
    // Adding micro-batches up counts with +=, but not in a loop over elements.
    CHECK(cost.reduced >= 2 * kBytes);
    CHECK(cost.reduced <= (2 + micro_batches) * kBytes);
  }
}

TEST_CASE("master_weights: judged") { judge_rows("master_weights"); }

TEST_CASE("master_weights: steps too small for 16 bits add up in 32") {
  // Below 1, 16-bit floats are 2⁻¹¹ apart. A step is 2⁻³ * 1 / 1024: a quarter of that.
  CHECK(learning(1, 1, 0x1p-3f, 1) == Values{1 - 0x1p-13f, 1});
  CHECK(learning(1, 1, 0x1p-3f, 4) == Values{1 - 0x1p-11f, 1 - 0x1p-11f});
  CHECK(learning(1, 1, 0x1p-3f, 400) == Values{1 - 400 * 0x1p-13f, 1 - 400 * 0x1p-13f});
}

TEST_CASE("master_weights: the gradient is divided in 32 bits, not in 16") {
  // 2⁻²⁴ is the smallest 16-bit float.
  CHECK(learning(0, 0x1p-24f, 1, 1) == Values{-0x1p-34f, 0});
}

TEST_CASE("stochastic_rounding: judged") { judge_rows("stochastic_rounding"); }

TEST_CASE("stochastic_rounding: half of the way to the next number, half of all r round up") {
  CHECK(rounding(1, -0x1p-8f) == up_from(0x8000));  // half of the way
  CHECK(rounding(1, -0x1p-9f) == up_from(0xc000));  // a quarter: of all r, too
  CHECK(rounding(1, -0x1p-7f) == up_from(0));       // it needs no rounding
}

TEST_CASE("stochastic_rounding: finite weights stay finite, and others do not become so") {
  constexpr float kLargest = 0x1.fep127f;
  CHECK(rounding(kLargest, -0x1p119f) == Values(kWeights, kLargest));  // half of the way to 2¹²⁸
  CHECK(rounding(kInfinity, 1) == Values(kWeights, kInfinity));
  CHECK(std::isnan(rounding(kNan, 1).front()));
}

TEST_CASE("loss_scaling: judged") { judge_rows("loss_scaling"); }

TEST_CASE("loss_scaling: 16 bits hold neither 2^-30 nor 1024 (60 + 61)") {
  CHECK(on_ranks(2, unscaling) == every(2, {(60 + 61) / 2.0f, 1.5f * 0x1p-30f, 0.5f}));
}

TEST_CASE("loss_scaling: an all-reduce of 32 bits for each parameter, one after the other") {
  CHECK(cost_of(4, unscaling) == Cost{2 + 2, 2 * (8 + 4), 2 * (8 + 4)});
}

TEST_CASE("dynamic_loss_scaling: judged") { judge_rows("dynamic_loss_scaling"); }

TEST_CASE("dynamic_loss_scaling: all ranks skip the step, and halve the scale") {
  CHECK(on_ranks(3, adjusting(kInfinity, 2)) == every(3, {1, 4, 0}));
  CHECK(on_ranks(3, adjusting(-kInfinity, 2)) == every(3, {1, 4, 0}));
  CHECK(on_ranks(3, adjusting(kNan, 0)) == every(3, {1, 4, 0}));
}

TEST_CASE("dynamic_loss_scaling: the third good step doubles the scale") {
  CHECK(on_ranks(3, adjusting(1, 0)) == every(3, {0, 8, 1}));
  CHECK(on_ranks(3, adjusting(1, 1)) == every(3, {0, 8, 2}));
  CHECK(on_ranks(3, adjusting(1, 2)) == every(3, {0, 16, 0}));
}

TEST_CASE("dynamic_loss_scaling: one float, in one all-reduce") {
  CHECK(cost_of(8, adjusting(1, 0)) == Cost{3, 3 * 4, 3 * 4});
}

}  // namespace rankbox
