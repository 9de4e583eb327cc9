// What is measured, one by one, in the order of the output.
#pragma once

#include <functional>
#include <vector>

#include "cli/compare/algorithms.h"
#include "cli/perf/plan.h"

namespace rankbox::perf {

struct Job {
  cli::Algorithm algorithm;
  cli::CallSettings settings;
  Row row;  // all that is known before measuring
};

/// The ways to do a collective, the native one first.
using Algorithms = std::function<std::vector<cli::Algorithm>(CollectiveKind)>;

/// By collective, then algorithm, the native one first, then operation, then size. Sizes are rounded
/// down to what every rank has an equal part of, as nccl-tests do, but to no less than one element
/// each; a size that became equal to the one before is left out.
///
/// Throws InvalidArgument for sizes that make no sweep, or a root outside the world.
std::vector<Job> jobs_of(const Plan& plan, int world_size,
                         const Algorithms& algorithms = cli::algorithms_of);

}  // namespace rankbox::perf
