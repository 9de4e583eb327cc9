// One case of a subject, run once.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "comm/errors.h"
#include "comm/run_options.h"
#include "verdict/subject.h"
#include "verdict/verdict.h"

namespace rankbox {

/// What came of it.
struct Attempt {
  std::optional<Failure> failure;
  std::string expected;
  std::string actual;
  RunReport report;                            // of a run that failed: up to there
  std::optional<DeadlockError> deadlock = {};  // if that is how it failed
};

/// Blocks until all ranks have ended. Never throws for what the subject does.
/// @param how buffering, seed, cluster and, where the case does not say, nodes
/// @param entering called on each rank's thread before the function is; may be empty
Attempt attempt(const Subject& subject, const Case& example, RunOptions how,
                const std::function<void()>& entering);

}  // namespace rankbox
