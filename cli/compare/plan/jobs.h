// What is measured, one by one, in the order of the output.
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

/// Jobs that compete: one collective, operation, world and size. The native one comes first.
using Contest = std::vector<Job>;

/// The ways to do a collective, the native one first.
using Algorithms = std::function<std::vector<Algorithm>(CollectiveKind)>;

/// What a process wants to know that reports where a learner's code ends it (cli/plugin/stop_report.h).
struct StopHooks {
  void (*starting)(const void* library) = [](const void*) {};  // before a learner's job
  void (*entering)() = [] {};  // on each rank's thread, before a call
};
void set_stop_hooks(const StopHooks& hooks);
const StopHooks& stop_hooks();

/// Those of the plan: native, ours, and the learner's. Loads the learner's libraries.
/// One that cannot be loaded has a problem. Throws Error for an exercise that is not known here.
Algorithms algorithms_in(const Plan& plan);

/// By collective, then operation, then size. Sizes are rounded down to what every rank has an equal
/// part of, as in nccl-tests, but to no less than one element each; a size that became equal to the
/// one before is left out.
/// Throws InvalidArgument for a root outside the world.
std::vector<Contest> contests_of(const Plan& plan, int world_size, const Algorithms& algorithms);

}  // namespace rankbox::cli
