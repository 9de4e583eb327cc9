#include "verdict/mixed_precision/loss_scaling.h"

#include <cmath>

#include "verdict/compare.h"
#include "verdict/data_parallel/parameters.h"
#include "verdict/tables.h"

namespace rankbox {

namespace {

constexpr float kScale = 1024;

/// Of some elements large, so that two ranks' sum is infinite in 16 bits; of others so small that
/// 16 bits hold them only because they are scaled.
float scaled_gradient(int rank, std::int64_t i) {
  const auto number = static_cast<float>(rank % 5 + 1);
  switch (i % 3) {
    case 0:
      return 60000 - 32 * number;
    case 1:
      return number * 0x1p-20f;
    default:
      return -number * 3;
  }
}

float mean_of(int world_size, std::int64_t i) {
  double sum = 0;
  for (int rank = 0; rank < world_size; ++rank) sum += scaled_gradient(rank, i);
  return static_cast<float>(sum / world_size / double{kScale});
}

std::string origin(float is, float mean) {
  if (std::isinf(is)) return "added up in 16 bits, where 65504 is the largest: widen it first";
  if (is == 0 && mean != 0) return "too small for 16 bits: divide by the scale in 32";
  const auto near = [&](float value) { return std::abs(is - value) <= 1e-4f * std::abs(value); };
  if (near(mean * kScale)) return "it is still scaled: divide by loss_scale";
  if (near(mean / kScale)) return "divided by loss_scale twice";
  return "the mean over the ranks of gradient / loss_scale, in 32 bits";
}

}  // namespace

std::vector<Case> LossScaling::cases() const { return cases_by_count(); }

std::optional<Difference> LossScaling::run(Comm& dist, const Case& example) const {
  const int p = dist.world_size();
  std::vector<TensorOf<Float16>> scaled;
  std::vector<Parameter> parameters;
  for (const std::int64_t size : parameter_sizes(*example.count)) {
    scaled.emplace_back(Shape(size));
    for (std::int64_t i = 0; i < size; ++i)
      scaled.back().data()[i] = Float16(scaled_gradient(dist.rank(), i));
    parameters.push_back({"layer" + std::to_string(parameters.size()) + ".weight", zeros(size)});
  }
  std::vector<Parameter*> pointers;
  for (Parameter& parameter : parameters) pointers.push_back(&parameter);

  function_(dist, scaled, kScale, pointers);

  for (const Parameter& parameter : parameters) {
    const std::string what = parameter.name + "'s gradient";
    const auto mean = [&](std::int64_t i) { return mean_of(p, i); };
    auto wrong = compare(
        what.c_str(), parameter.gradient, parameter.value.size(), mean,
        [&](float is, std::int64_t i) { return origin(is, mean(i)); }, 4e-6f);
    if (wrong) return wrong;
  }
  return std::nullopt;
}

Cost LossScaling::cost(const Case& example) const {
  return native(CollectiveKind::kAllReduce, example.world_size, parameter_sizes(*example.count));
}

}  // namespace rankbox
