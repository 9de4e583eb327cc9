// Comparing what a rank's part of a layer does with what the whole layer does on one rank.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/tensor.h"
#include "training/layer.h"
#include "verdict/subject.h"

namespace rankbox {

/// Every world size with so many rows, samples or rows of a rank.
std::vector<Case> cases_by_rows(const std::vector<std::int64_t>& counts = {1, 2, 5});

/// Multiples of 1/2 from -1 to 1, other ones for every name: products and short sums of them are exact
/// in any order. What is wrong is wrong by a good deal more than kLinearBound, which is for those who
/// divide on the way.
inline constexpr float kLinearBound = 1e-5f;
Tensor small_values(const Shape& shape, std::string_view name);

/// A new tensor of factor times the elements.
Tensor scaled(const Tensor& tensor, float factor);

/// factor · a + b, element by element.
Tensor weighted_sum(float factor, const Tensor& a, const Tensor& b);

/// Of both directions, on one rank; gradients are in the layer's parameters.
struct Passes {
  Tensor y;
  Tensor dx;
};
Passes run_alone(Layer& layer, Tensor x, Tensor dy, const Pass& pass = {});

/// A tensor that a mistake leaves, and what to tell whoever makes it.
struct Guess {
  const char* hint;
  Tensor tensor;
};

/// The first element further than `bound` from what it should be. What is hinted at, is the first
/// guess that is what it is, or `otherwise`.
std::optional<Difference> compare_tensor(const std::string& what, const Tensor& actual,
                                         const Tensor& expected, float bound,
                                         const std::vector<Guess>& guesses, const char* otherwise);

/// What gradients hold before: backward adds to them.
inline constexpr float kGradientBefore = 1;
void start_gradients(const std::vector<Parameter*>& parameters);

/// A parameter after both directions, whose gradient was started.
struct ParameterCheck {
  const Parameter* actual;
  const char* name;
  Tensor gradient;                  // what it should be
  Tensor value;                     // what it was, and should still be
  std::vector<Guess> guesses = {};  // of the gradient, before those of all parameters
};

/// Gradients, with hints on sums and means over ranks; and that values are unchanged.
std::optional<Difference> compare_parameters(const std::vector<ParameterCheck>& all, float bound,
                                             int world_size);

/// Whether backward popped all that forward had pushed.
std::optional<Difference> compare_saved(const Saved& saved);

}  // namespace rankbox
