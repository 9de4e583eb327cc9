// One run, of one case or of several in a row.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "comm/errors.h"
#include "comm/run_options.h"
#include "judge/subject.h"
#include "judge/verdict.h"

namespace rankbox {

/// Called on each rank; may be empty.
struct RankHooks {
  std::function<void()> entering = {};  // before the function
  std::function<void()> leaving = {};   // after it, also when it threw; must not throw
};

struct CaseRun {
  std::optional<Failure> failure;              // set if the run failed or a value is wrong
  RunReport report;                            // of a failed run: up to the failure
  std::optional<DeadlockError> deadlock = {};  // set if the run failed with a deadlock
};

/// Blocks until all ranks have ended. Never throws for errors of the subject.
/// @param examples run one after the other by the same ranks, which compare after each; the checks
/// of reports are made only where it is one. REQUIRES: at least one, all in the same world
/// @param how buffering, executor, seed, cluster and, where the case does not set them, nodes
CaseRun run_cases(const Subject& subject, const std::vector<Case>& examples, RunOptions how = {},
                  const RankHooks& hooks = {});

/// As run_cases, with one.
CaseRun run_case(const Subject& subject, const Case& example, RunOptions how = {},
                 const RankHooks& hooks = {});

}  // namespace rankbox
