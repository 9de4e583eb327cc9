// Parameters for exercises: various sizes, and gradients with a known mean.
#pragma once

#include <optional>
#include <vector>

#include "judge/subject.h"
#include "training/parameter.h"

namespace rankbox {

/// Returns sizes of three parameters, one of them of a single element.
std::vector<std::int64_t> parameter_sizes(std::int64_t count);

/// Owns parameters; functions take `pointers`.
struct ParameterList {
  std::vector<Parameter> all;
  std::vector<Parameter*> pointers;
};

/// Parameter k has the rank's elements of tensor k as values, and ReduceOp::AVG's shares of it as
/// gradients. Odd ranks do not use the third parameter: its gradient is empty.
ParameterList make_parameters(const std::vector<std::int64_t>& sizes, int rank, int world_size);

/// Compares: values should be unchanged, and gradients the means over all ranks.
std::optional<Difference> compare_averaged(const ParameterList& parameters, int rank,
                                           int world_size);

/// Returns every world size with every count, without training, and then each with 20 training
/// steps of a small model.
std::vector<Case> cases_with_training();

}  // namespace rankbox
