// What every backend asks of RunOptions.
#pragma once

#include "comm/run_options.h"

namespace rankbox {

/// Throws InvalidArgument for a world that cannot be on any machine: no rank, more nodes than
/// ranks, prices that are no numbers, faults of ranks that do not exist, a deadline that has passed.
void check_run_options(const RunOptions& options);

}  // namespace rankbox
