// The seconds of a step, by what they are spent on.
#pragma once

#include "cli/plan/estimate.h"
#include "cli/plan/share.h"

namespace rankbox::plan {

/// @param share of a rank, share_of() the task's model
/// @param optimizer_bytes of the state that a rank updates
Seconds seconds_of(const Task& task, const Layout& layout, const Share& share,
                   double optimizer_bytes);

}  // namespace rankbox::plan
