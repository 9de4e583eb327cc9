// The checks of RunOptions on every backend.
#pragma once

#include "comm/run_options.h"

namespace rankbox {

/// Throws InvalidArgument for a world that cannot run: no ranks, more nodes than ranks, costs that
/// are not numbers, a cluster that is too small, a deadline that is not positive.
void check_run_options(const RunOptions& options);

/// Throws InvalidArgument for options that only the sandbox has.
void refuse_sandbox_options(const RunOptions& options);

/// Throws InvalidArgument if the cluster is too small for so many ranks or nodes.
void check_cluster_fits(const Cluster& cluster, int world_size, int nodes);

}  // namespace rankbox
