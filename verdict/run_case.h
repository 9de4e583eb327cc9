// One run, of one case or of several in a row.
#pragma once

#include <functional>
#include <optional>
#include <vector>

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
/// @param examples run one after the other by the same ranks, which compare after each; the checks
/// of reports are made only where it is one. REQUIRES: at least one, all in the same world
/// @param how buffering, seed, cluster and, where the case does not set them, nodes
/// @param entering called on each rank's thread before the function; may be empty
CaseRun run_cases(const Subject& subject, const std::vector<Case>& examples, RunOptions how = {},
                  const std::function<void()>& entering = {});

/// As run_cases, with one.
CaseRun run_case(const Subject& subject, const Case& example, RunOptions how = {},
                 const std::function<void()>& entering = {});

}  // namespace rankbox
