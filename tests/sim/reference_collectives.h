// What collectives leave on each rank, for the reference model.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/sim/random_program.h"

namespace rankbox::testing {

/// Elements begin, …, end-1 of what the step sends or contributes.
std::vector<std::int64_t> elements_of(const Step& step, std::int64_t begin, std::int64_t end);

/// What the collective leaves on one rank of its group: the result, or, where there is none, the
/// rank's own input. Nothing for a barrier and a split.
///
/// @param steps [index in the group] the same collective on every rank
/// @param ranks [index in the group] its rank in the world
std::vector<std::int64_t> result_of_collective(const std::vector<Step>& steps,
                                               const std::vector<int>& ranks, int index);

}  // namespace rankbox::testing
