// Checks of strategies that give every rank an equal share of each batch.
#pragma once

#include "training/run/plan.h"

namespace rankbox::train {

/// Throws InvalidArgument, in one line with the fix, for a batch that cannot be shared equally, and
/// for more ranks than samples.
void check_equal_shares(const Plan& plan, std::int64_t samples);

}  // namespace rankbox::train
