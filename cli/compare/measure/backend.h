// The interface of a backend beyond its Comm, implemented in backend_NAME.cc.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/compare/measure/devices.h"
#include "cli/compare/plan/jobs.h"
#include "cli/compare/plan/plan.h"

namespace rankbox::cli {

/// Returns "sim", "mpi" or "nccl": the program is rankbox-compare-NAME.
const char* backend_name();

/// Call once, before any other function.
void prepare_process();

/// Returns one line: the kind of ranks, the library and its version. Never throws.
std::string backend_line();

/// Returns one line: what the ranks of a world of this size run on here. Never throws.
std::string world_line(int world_size);

/// Returns the two lines for the header of a report; none in the sandbox.
std::vector<std::string> describe_backend(int world_size);

/// Returns all ranks' devices, in rank order. A collective. Call on the rank's thread.
std::shared_ptr<const std::vector<Device>> devices_of(Comm& dist);

/// Returns the number of nodes to place ranks on: the cluster's where nodes are simulated, and 1
/// where nodes are real, since the backend detects those.
int nodes_to_simulate(const Cluster& cluster, int world_size);

/// Returns the default world sizes.
std::vector<int> default_ranks();

/// Returns the name of the preset that suits a world of this size here, for virtual time and
/// numbers of segments where the user names none.
std::string default_cluster(int world_size);

/// Returns the options of timed runs.
RunOptions run_options(const Plan& plan, int world_size);

/// Call before timing. In the sandbox, runs each job once under the virtual clock, and sets its
/// row's cost, virtual_seconds and wrong. A learner's job that throws, or whose result is wrong,
/// fails. On other backends, does nothing. Throws the errors of reference jobs, with the row named.
/// @param starting called before each job
void judge_contest(Contest& contest, const Plan& plan,
                   const std::function<void(std::size_t job)>& starting);

/// Call on each rank around timed calls. While `timed`, NCCL keeps no records for a post-mortem,
/// waits without sleeping, and computes AVG of native collectives as ncclAvg; MPI keeps no records
/// of messages. In the sandbox, timed runs never keep records.
void set_timed(Comm& dist, bool timed);

/// Runs calls(), which calls native collectives other than a barrier, as one group where the
/// library has groups: NCCL. REQUIRES: set_timed(dist, true).
void call_in_group(Comm& dist, const std::function<void()>& calls);

/// Returns the baselines that are measured by default in a world of this size.
std::vector<Baseline> default_baselines(int world_size);

/// Returns whether processes of this backend can run themselves again, as a baseline does.
bool can_run_itself();

}  // namespace rankbox::cli
