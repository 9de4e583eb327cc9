// Parameters for exercises: of many sizes, with gradients whose mean is known.
#pragma once

#include <optional>
#include <vector>

#include "training/parameter.h"
#include "verdict/subject.h"

namespace rankbox {

/// Sizes of three parameters, one of them of a single element.
std::vector<std::int64_t> parameter_sizes(std::int64_t count);

/// Owns parameters; `pointers` is what functions take.
struct ParameterList {
  std::vector<Parameter> all;
  std::vector<Parameter*> pointers;
};

/// Values are element(rank, 0), …; gradients are ReduceOp::AVG's shares. Odd ranks did not use the
/// third parameter: its gradient is empty.
ParameterList make_parameters(const std::vector<std::int64_t>& sizes, int rank, int world_size);

/// Values should be unchanged, and gradients the means over all ranks.
std::optional<Difference> compare_averaged(const ParameterList& parameters, int rank,
                                           int world_size);

/// Every world size with every count, without training, and then each with 20 steps of training a
/// small model.
std::vector<Case> cases_with_training();

}  // namespace rankbox
