// A run of the sandbox: creates a world, runs and joins the ranks, and reports.
#pragma once

#include <functional>

#include "comm/run_options.h"
#include "sim/communicator.h"
#include "sim/data_plane.h"

namespace rankbox::sim {

/// Throws InvalidArgument for an impossible world.
void check_options(const RunOptions& options);

/// Runs `body` on every rank and returns when the last has ended. Fills `report`, also when the run
/// fails; then throws as run_ranks does (comm/run_ranks.h).
/// @param data_plane null: data is in host memory
void run_world(const RunOptions& options, const std::function<void(Communicator&)>& body,
               RunReport* report, DataPlane* data_plane = nullptr);

}  // namespace rankbox::sim
