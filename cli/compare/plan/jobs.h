// The measurements of a plan, in the order of the output.
#pragma once

#include <functional>
#include <vector>

#include "cli/compare/plan/algorithms.h"
#include "cli/compare/plan/plan.h"

namespace rankbox::cli {

struct Job {
  Algorithm algorithm;
  CallSettings settings;
  Row row;  // all that is known before measuring
};

/// Returns what a rank does in the job.
RankPart part_of(const Job& job, int rank);

/// Competing jobs: one collective, operation, world and size. The native one comes first.
using Contest = std::vector<Job>;

/// The algorithms of a collective, the native one first.
using Algorithms = std::function<std::vector<Algorithm>(CollectiveKind)>;

/// Callbacks for a process that reports where a learner's code ended it (judge/stop_report.h).
struct StopHooks {
  void (*starting)(const void* library) = [](const void*) {};  // before a learner's job
  void (*entering)() = [] {};  // on each rank's thread, before a call
};
void set_stop_hooks(const StopHooks& hooks);
const StopHooks& stop_hooks();

/// Returns the plan's algorithms: native, references and the learner's. Loads the learner's
/// libraries. If one cannot be loaded, its algorithm has a `problem`. Throws Error for an unknown
/// exercise.
Algorithms algorithms_in(const Plan& plan);

/// Returns the contests by collective, then operation, then size. As in nccl-tests, sizes are
/// rounded down so that every rank has an equal part, of at least one element. A size that then
/// equals the previous one is omitted. Throws InvalidArgument for a root outside the world.
std::vector<Contest> contests_of(const Plan& plan, int world_size, const Algorithms& algorithms);

}  // namespace rankbox::cli
