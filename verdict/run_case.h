// One run of one case.
#pragma once

#include <functional>
#include <optional>

#include "comm/errors.h"
#include "comm/run_options.h"
#include "verdict/subject.h"
#include "verdict/verdict.h"

namespace rankbox {

struct CaseRun {
  std::optional<Failure> failure;              // set if the run failed or a value is wrong
  RunReport report;                            // of a failed run: up to the failure
  std::optional<DeadlockError> deadlock = {};  // set if the run failed with a deadlock
};

/// Blocks until all ranks have ended. Never throws for errors of the subject.
/// @param how buffering, seed, cluster and, where the case does not set them, nodes
/// @param entering called on each rank's thread before the function; may be empty
CaseRun run_case(const Subject& subject, const Case& example, RunOptions how = {},
                 const std::function<void()>& entering = {});

}  // namespace rankbox
