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
  std::optional<Failure> failure;              // the run failed, or a value is wrong
  RunReport report;                            // of a run that failed: up to the failure
  std::optional<DeadlockError> deadlock = {};  // if that is how it failed
};

/// Blocks until all ranks have ended. Never throws for what the subject does.
/// @param how buffering, seed, cluster and, where the case does not set them, nodes
/// @param entering called on each rank's thread before the function is; may be empty
CaseRun run_case(const Subject& subject, const Case& example, RunOptions how = {},
                 const std::function<void()>& entering = {});

}  // namespace rankbox
