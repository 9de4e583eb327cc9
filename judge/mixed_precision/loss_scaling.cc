// Judges loss_scaling: gradients that need scaling for 16 bits, and sums that overflow them.
#include "parallel/loss_scaling.h"

#include <cmath>
#include <limits>

#include "judge/case_lists.h"
#include "judge/compare.h"
#include "judge/salt.h"
#include "judge/training/native_calls.h"
#include "judge/training/parameters.h"
#include "judge/training_families.h"
#include "training/parameter.h"

namespace rankbox {

namespace {

using Function = decltype(&loss_scaling);

/// Worlds differ in the scale, which a long training may have made very large, or less than 1.
float scale_of(int world_size) {
  const int exponents[] = {10, 30, 0, -3, 16};
  return std::ldexp(1.0F, static_cast<int>(drawn("scale", exponents[world_size % 5], -5, 30)));
}

/// Returns 1 to 5. A salt draws it for each element.
float number_at(int rank, std::size_t tensor, std::int64_t i) {
  if (salt() == 0) return static_cast<float>(rank % 5 + 1);
  const std::uint64_t bits = salted("gradients")
                                 .stream(static_cast<std::uint64_t>(rank))
                                 .stream(tensor)
                                 .at(static_cast<std::uint64_t>(i));
  return static_cast<float>(bits % 5 + 1);
}

/// Some elements are so large that two ranks' sum is infinite in 16 bits. Others are so small that
/// 16 bits represent them only when scaled. Rank 0 has a few that are not finite.
float scaled_gradient(int rank, std::size_t tensor, std::int64_t i) {
  if (rank == 0 && tensor == 1 && i == 1) return std::numeric_limits<float>::infinity();
  if (rank == 0 && tensor == 1 && i == 2) return std::numeric_limits<float>::quiet_NaN();
  const float number = number_at(rank, tensor, i);
  switch (i % 3) {
    case 0:
      return 60000 - 32 * number;
    case 1:
      return number * 0x1p-20f;
    default:
      return -number * 3;
  }
}

float mean_of(int world_size, std::size_t tensor, std::int64_t i) {
  double sum = 0;
  for (int rank = 0; rank < world_size; ++rank) sum += scaled_gradient(rank, tensor, i);
  return static_cast<float>(sum / world_size / double{scale_of(world_size)});
}

Hint origin(float is, float mean, float scale) {
  if (!std::isfinite(mean))
    return {"not-finite-must-show",
            "rank 0 has one that is not finite: that has to show, on all ranks"};
  if (std::isinf(is))
    return {"added-in-16-bits", "added up in 16 bits, where 65504 is the largest: widen it first"};
  if (is == 0 && mean != 0)
    return {"divided-in-16-bits", "too small for 16 bits: divide by the scale in 32"};
  const auto near = [&](float value) { return std::abs(is - value) <= 1e-4f * std::abs(value); };
  if (near(mean * scale)) return {"still-scaled", "it is still scaled: divide by loss_scale"};
  if (near(mean / scale)) return {"unscaled-twice", "divided by loss_scale twice"};
  return {"mean-of-unscaled", "the mean over the ranks of gradient / loss_scale, in 32 bits"};
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  const int p = dist.world_size();
  const float scale = scale_of(p);
  std::vector<TensorOf<Float16>> scaled;
  std::vector<Parameter> parameters;
  for (const std::int64_t size : parameter_sizes(*example.count)) {
    std::vector<Float16> values;
    for (std::int64_t i = 0; i < size; ++i)
      values.emplace_back(scaled_gradient(dist.rank(), scaled.size(), i));
    scaled.push_back(from_host(values, parameter_shape(size)));
    parameters.push_back(
        {"layer" + std::to_string(parameters.size()) + ".weight", zeros(parameter_shape(size))});
    // Gradients are empty or zero.
    if (parameters.size() % 2 == 0) parameters.back().gradient = zeros(parameter_shape(size));
  }
  std::vector<Parameter*> pointers;
  for (Parameter& parameter : parameters) pointers.push_back(&parameter);

  function(dist, scaled, scale, pointers);

  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const Parameter& parameter = parameters[k];
    const auto mean = [&](std::int64_t i) { return mean_of(p, k, i); };
    auto wrong = compare(
        parameter.name + "'s gradient", parameter.gradient, parameter.value.size(), mean,
        [&](float is, std::int64_t i) { return origin(is, mean(i), scale); }, 4e-6f);
    if (!wrong) wrong = compare_parameter_shape(parameter.name + "'s gradient", parameter.gradient);
    if (wrong) return wrong;
  }
  return std::nullopt;
}

NativeCalls calls(const Case& example) {
  return calls_of(CollectiveKind::kAllReduce, parameter_sizes(*example.count));
}

}  // namespace

Family family::loss_scaling() {
  return make_family<Function>(
      "loss_scaling",
      "(Comm& dist, const std::vector<TensorOf<Float16>>& scaled, float loss_scale, const "
      "std::vector<Parameter*>& parameters)",
      subject_with_calls(cases_by_count, calls), run);
}

}  // namespace rankbox
