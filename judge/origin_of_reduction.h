// The shares that a wrong sum, mean, maximum or minimum lacks.
//
// A chunk that was sent too early, or that overwrites a sum, leaves one rank's share or an older
// partial sum. The ranks that it lacks say which message was the wrong one.
#pragma once

#include <vector>

#include "comm/hint.h"
#include "comm/reduce_op.h"

namespace rankbox {

/// Describes the likely origin of a value that is not the reduction of these shares, one a rank;
/// empty if unknown. A share of 0 is never said to be missing.
Hint origin_of_reduction(ReduceOp op, float value, const std::vector<float>& shares);

}  // namespace rankbox
