#include "judge/training/parameters.h"

#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "judge/case_lists.h"
#include "judge/compare.h"
#include "judge/inputs.h"
#include "judge/origin_of_reduction.h"
#include "training/rows.h"

namespace rankbox {

namespace {

constexpr std::size_t kUnused = 2;  // the parameter that odd ranks did not use
constexpr std::size_t kOfNan = 1;   // the parameter whose gradient has a NaN on rank 0
constexpr int kSteps = 20;
constexpr std::int64_t kHidden = 9;

bool is_used(std::size_t parameter, int rank) { return parameter != kUnused || rank % 2 == 0; }

/// Returns element i of every rank's gradient, 0 where it is not used.
std::vector<float> gradients_at(std::size_t parameter, std::int64_t i, int world_size) {
  std::vector<float> all = shares_at(ReduceOp::AVG, i, world_size, parameter);
  for (int rank = 0; rank < world_size; ++rank)
    if (!is_used(parameter, rank)) all[static_cast<std::size_t>(rank)] = 0;
  return all;
}

float mean_of_gradients(std::size_t parameter, std::int64_t i, std::int64_t size, int world_size) {
  if (parameter == kOfNan && i == size - 1) return std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> all = gradients_at(parameter, i, world_size);
  return static_cast<float>(std::accumulate(all.begin(), all.end(), 0.0) / world_size);
}

Hint origin(float is, float mean, float own, const std::vector<float>& gradients) {
  if (is == mean * static_cast<float>(gradients.size()))
    return {"sum-not-mean", "that is the sum of all ranks' gradients: their mean is wanted"};
  if (std::isnan(mean))
    return {"nan-must-show", "rank 0 has a NaN here: it has to show in the mean, on all ranks"};
  if (is == own)
    return {"own-gradient-alone", "that is this rank's own gradient: the others' are missing"};
  return origin_of_reduction(ReduceOp::AVG, is, gradients);
}

}  // namespace

std::vector<std::int64_t> parameter_sizes(std::int64_t count) {
  std::vector<std::int64_t> sizes = {count, 2 * count + 3, 1};
  if (count == 2) sizes.resize(40, 6);
  return sizes;
}

Shape parameter_shape(std::int64_t size) {
  if (size == 0) return size;
  if (size % 8 == 0) return {8, size / 8};
  if (size % 4 == 0) return {2, 2, size / 4};
  if (size % 3 == 0) return {3, size / 3};
  return size % 2 == 0 ? Shape{2, size / 2} : Shape{1, size};
}

Tensor in_parameter_shape(const std::vector<float>& elements) {
  return from_host(elements, parameter_shape(std::ssize(elements)));
}

std::optional<Difference> compare_parameter_shape(const std::string& what, const Tensor& actual) {
  return compare_shape(what, actual.shape(), parameter_shape(actual.size()));
}

ParameterList make_parameters(const std::vector<std::int64_t>& sizes, int rank, int world_size) {
  ParameterList list;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    list.all.push_back({fmt::format("layer{}.weight", k),
                        in_parameter_shape(to_host(elements_of(rank, sizes[k], k)))});
    if (!is_used(k, rank)) continue;
    std::vector<float> gradient = to_host(shares_of(ReduceOp::AVG, rank, sizes[k], world_size, k));
    if (k == kOfNan && rank == 0) gradient.back() = std::numeric_limits<float>::quiet_NaN();
    list.all.back().gradient = in_parameter_shape(gradient);
  }
  for (Parameter& parameter : list.all) list.pointers.push_back(&parameter);
  return list;
}

std::optional<Difference> compare_averaged(const ParameterList& parameters, int rank,
                                           int world_size) {
  for (std::size_t k = 0; k < parameters.all.size(); ++k) {
    const Parameter& parameter = parameters.all[k];
    const std::int64_t size = parameter.value.size();
    const std::string gradient = parameter.name + "'s gradient";
    const auto mean = [&](std::int64_t i) { return mean_of_gradients(k, i, size, world_size); };
    auto difference = compare(
        gradient, parameter.gradient, size, mean,
        [&](float is, std::int64_t i) {
          return origin(is, mean(i), share(ReduceOp::AVG, rank, i, world_size, k),
                        gradients_at(k, i, world_size));
        },
        tolerance(ReduceOp::AVG));
    if (!difference) difference = compare_parameter_shape(gradient, parameter.gradient);
    if (difference) return difference;
    difference = compare_unchanged(parameter.name + "'s value", parameter.value, rank, size, k);
    if (difference) return difference;
  }
  return std::nullopt;
}

std::vector<Case> cases_with_training() {
  std::vector<Case> cases = cases_by_count();
  for (Case& example : cases) example.steps = 0;
  for (const Case& example : cases_with_each({{.count = kHidden, .steps = kSteps}}))
    cases.push_back(example);
  return cases;
}

}  // namespace rankbox
