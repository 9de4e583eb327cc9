// What differs between backends beyond their Comm. Each backend implements it in
// backend_NAME.cc.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/compare/measure/devices.h"
#include "cli/compare/plan/jobs.h"
#include "cli/compare/plan/plan.h"

namespace rankbox::cli {

/// "sim", "mpi", "nccl": the program is rankbox-compare-NAME.
const char* backend_name();

/// Called first of all, once.
void prepare_process();

/// One line: what the ranks are, of which library, in which version. Never throws.
std::string backend_line();

/// One line: what a world of this size is made of here. Never throws.
std::string world_line(int world_size);

/// The two lines, for the head of a report; none in the sandbox, where there is nothing to tell.
std::vector<std::string> describe_backend(int world_size);

/// What this rank runs on. Called by the rank.
Device device_here(const Comm& dist);

/// The number of nodes that ranks are placed on: those of the cluster where all of it is imagined, 1 where
/// nodes are real, and found by the backend itself.
int nodes_to_imagine(const Cluster& cluster, int world_size);

/// The world sizes to measure where nothing is said.
std::vector<int> default_ranks();

/// How worlds of this plan run while times are taken.
RunOptions run_options(const Plan& plan, int world_size);

/// Before times are taken: in the sandbox, runs each job once under the virtual clock, and sets its
/// row's cost, virtual_seconds and wrong. A learner's job that fails there, or whose result is wrong,
/// falls. Elsewhere does nothing.
/// @param starting called before each job
/// Throws what our own jobs throw, with the row named.
void judge_contest(Contest& contest, const Plan& plan,
                   const std::function<void(std::size_t job)>& starting);

/// What the native collective of a world of this size is measured with, beside its defaults.
std::vector<Baseline> default_baselines(int world_size);

/// Whether processes of this backend may run themselves again, as a baseline does.
bool can_run_itself();

}  // namespace rankbox::cli
