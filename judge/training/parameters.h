// Parameters for exercises: various sizes, and gradients with a known mean.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "judge/subject.h"
#include "training/parameter.h"

namespace rankbox {

/// Returns sizes of three parameters, one of them of a single element; of many for one count.
std::vector<std::int64_t> parameter_sizes(std::int64_t count);

/// Returns the shape of a parameter, or of a tensor between layers: rows where the size has any.
Shape parameter_shape(std::int64_t size);

/// Returns a tensor of these elements in that shape.
Tensor in_parameter_shape(const std::vector<float>& elements);

/// Compares a tensor's shape with that of a parameter of its size, as compare_shape() does.
std::optional<Difference> compare_parameter_shape(const std::string& what, const Tensor& actual);

/// Owns parameters; functions take `pointers`.
struct ParameterList {
  std::vector<Parameter> all;
  std::vector<Parameter*> pointers;
};

/// Parameter k has the rank's elements of tensor k as values, and ReduceOp::AVG's shares of it as
/// gradients. Odd ranks do not use the third parameter: its gradient is empty. The second one's
/// gradient ends with a NaN on rank 0.
ParameterList make_parameters(const std::vector<std::int64_t>& sizes, int rank, int world_size);

/// Compares: values should be unchanged, and gradients the means over all ranks.
std::optional<Difference> compare_averaged(const ParameterList& parameters, int rank,
                                           int world_size);

/// Returns every world size with every count, without training, and then each with 20 training
/// steps of a small model.
std::vector<Case> cases_with_training();

}  // namespace rankbox
