// Parameters as exercises are given them: of many sizes, none of which a program may rely on, with
// gradients whose mean is known.
#pragma once

#include <optional>
#include <vector>

#include "comm/collective_kind.h"
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

/// Values of element(rank, 0), …; gradients of ReduceOp::AVG's shares, but on odd ranks the third
/// parameter was not used: its gradient is empty.
ParameterList make_parameters(const std::vector<std::int64_t>& sizes, int rank, int world_size);

/// Values as they were, and gradients the means over all ranks.
std::optional<Difference> compare_averaged(const ParameterList& parameters, int rank,
                                           int world_size);

/// What the sandbox charges on its usual cluster for a native collective with `elements` floats.
Cost native(CollectiveKind kind, int world_size, std::int64_t elements);

/// For each of the sizes one, one after the other.
Cost native(CollectiveKind kind, int world_size, const std::vector<std::int64_t>& sizes);

/// Cost, so many times.
Cost times(int n, const Cost& cost);

/// Every world size with every count, without training; and each that trains a small model for 20
/// steps.
std::vector<Case> cases_with_training();

}  // namespace rankbox
