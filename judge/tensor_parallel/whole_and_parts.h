// Compares a rank's part of a layer with the whole layer on one rank.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "comm/tensor.h"
#include "judge/subject.h"
#include "parallel/direction.h"
#include "training/layer.h"

namespace rankbox {

/// Returns every world size with these numbers of rows, or samples, or rows of a rank.
std::vector<Case> cases_by_rows(const std::vector<std::int64_t>& counts = {1, 2, 5});

/// Multiples of 1/2 from -1 to 1, which differ by name. Their products and short sums are exact in
/// any order. kLinearBound allows for intermediate divisions, and is far below any wrong value.
inline constexpr float kLinearBound = 1e-5f;
Tensor small_values(const Shape& shape, std::string_view name);

/// Returns a new tensor of factor times the elements.
Tensor scaled(const Tensor& tensor, float factor);

/// Returns factor · a + b, element by element.
Tensor weighted_sum(float factor, const Tensor& a, const Tensor& b);

/// The results of both directions.
struct Passes {
  Tensor y;
  Tensor dx;
};

/// Runs a layer on one rank. Gradients are in the layer's parameters.
Passes run_alone(Layer& layer, Tensor x, Tensor dy, const Pass& pass = {});

/// The cases of this many rows have two batches in flight, each with its own Saved.
inline constexpr std::int64_t kRowsOfTwoBatches = 2;
inline bool has_two_batches(const Case& example) { return *example.count == kRowsOfTwoBatches; }

/// In the cases of this many rows, gradients are empty before the call.
inline constexpr std::int64_t kRowsOfNoGradients = 5;

/// Calls one(direction, tensor, saved) for both directions. With two batches, the second one goes
/// forward before the first one goes backward; it is all zeros, and adds nothing to gradients.
template <class One>
Passes both_directions(Tensor x, Tensor dy, Saved& saved, bool two_batches, One one) {
  Passes passes{std::move(x), std::move(dy)};
  Passes second{zeros(passes.y.shape()), zeros(passes.dx.shape())};
  Saved saved_of_second(saved.pass());
  one(Direction::kForward, passes.y, saved);
  if (two_batches) one(Direction::kForward, second.y, saved_of_second);
  one(Direction::kBackward, passes.dx, saved);
  if (two_batches) one(Direction::kBackward, second.dx, saved_of_second);
  return passes;
}

/// The tensor that a mistake produces, and its hint.
struct Guess {
  Hint hint;
  Tensor tensor;
};

/// The expected tensor. The hint is that of the first guess that equals the actual tensor, or
/// `otherwise`.
struct TensorCheck {
  Tensor expected;
  std::vector<Guess> guesses;
  Hint otherwise;
};

/// Returns the first element that differs from the expected one by more than `bound`.
std::optional<Difference> compare_tensor(const std::string& what, const Tensor& actual,
                                         const TensorCheck& check, float bound);

/// Hints for mistakes in y = (the sum of the ranks' products) + bias.
struct HintsOfSum {
  Hint alone;  // the product of one rank
  Hint mean;   // of the products
};
std::vector<Guess> mistakes_of_sum(const Tensor& y, const Tensor& own_product, const Tensor& bias,
                                   int world_size, const HintsOfSum& hints);

/// The value of gradients before the call: backward adds to them. 0: they are empty.
inline constexpr float kGradientBefore = 1;
float gradient_before(std::int64_t rows);
void start_gradients(const std::vector<Parameter*>& parameters, float before);

/// A parameter after both directions.
struct ParameterCheck {
  const Parameter* actual;
  std::string name;
  Tensor gradient;                  // the expected one
  Tensor value;                     // unchanged
  std::vector<Guess> guesses = {};  // of the gradient, before those of all parameters
};

/// Compares the results of a shard in both directions: y, dx, gradients and values of the
/// parameters, and that backward popped everything that forward pushed.
std::optional<Difference> compare_shard(const Passes& actual, const Saved& saved,
                                        const TensorCheck& y, const TensorCheck& dx,
                                        const std::vector<ParameterCheck>& parameters,
                                        float gradient_before, float bound, int world_size);

}  // namespace rankbox
