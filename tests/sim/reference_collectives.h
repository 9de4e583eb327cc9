// The results of collectives on each rank, for the reference model.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/sim/random_program.h"

namespace rankbox::testing {

/// Returns elements begin, …, end-1 of what the step sends or contributes.
std::vector<std::int64_t> elements_of(const Step& step, std::int64_t begin, std::int64_t end);

/// Returns the collective's result on one rank of its group, or, where there is none, the rank's
/// own input. Empty for a barrier and a split.
///
/// @param steps [index in the group] the same collective on every rank
/// @param ranks [index in the group] its rank in the world
std::vector<std::int64_t> result_of_collective(const std::vector<Step>& steps,
                                               const std::vector<int>& ranks, int index);

}  // namespace rankbox::testing
