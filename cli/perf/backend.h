// What rankbox-compare must know of a backend beyond its Comm. Each backend implements it in a source
// file of its own, backend_NAME.cc.
#pragma once

#include <string>
#include <vector>

#include "cli/perf/devices.h"
#include "cli/perf/plan.h"

namespace rankbox::perf {

/// "sim", "mpi", "nccl": the program is rankbox-compare-NAME.
const char* backend_name();

/// Called first of all, once.
void prepare_process();

/// One line: what the ranks are, of which library, in which version. Never throws.
std::string backend_line();

/// One line: what a world of this size is made of here. Never throws.
std::string world_line(int world_size);

/// NCCL's, as ncclGetVersion has it: 22809. 0 elsewhere.
int nccl_version();

/// What this rank runs on. Called by the rank.
Device device_here(const Comm& dist);

/// The nodes that ranks are told to be on: those of the cluster where all of it is imagined, 1 where
/// nodes are real, and found by the backend itself.
int nodes_to_imagine(const Cluster& cluster, int world_size);

/// What the native collective of a world of this size is measured with, beside its defaults.
std::vector<Baseline> default_baselines(int world_size);

/// Whether processes of this backend may run themselves again, as a baseline does.
bool can_run_itself();

/// Runs the command as this many processes of this machine, with one rank each, and returns the
/// exit code. Blocks. Throws InvalidArgument where that is not this backend's way, and says what is.
int run_processes(int processes, const std::vector<std::string>& command);

}  // namespace rankbox::perf
