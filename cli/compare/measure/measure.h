// One rank's part in measuring one contest.
//
// As in nccl-tests: the host's clock around calls back to back, divided by their number, every size
// warmed up, a barrier and a synchronize() before and a synchronize() after. Three things differ:
//
//   * An iteration is as many calls as take 0.5 ms, unless the plan sets the number. There are
//     several iterations, for a median and quartiles.
//   * The competitors take turns, iteration by iteration, in alternating order. Noise affects all
//     of them, so ratios within a contest are more reliable than the times themselves.
//   * The slowest rank's time counts by default, not the mean over ranks.
//
// latency_seconds is measured on single calls, each with a barrier before (not timed) and a
// synchronize() after (timed).
#pragma once

#include <cstddef>
#include <functional>

#include "cli/compare/plan/jobs.h"
#include "comm/comm.h"

namespace rankbox::cli {

/// Callbacks that report a rank's position. Called on every rank.
struct Marks {
  std::function<void(std::size_t job)> announce;  // before the ranks meet for its next call
  std::function<void(std::size_t job)> enter;     // when they have met
  std::function<void()> leave;  // when they have met again, after a call of a learner's job
};

/// Measures the jobs of `contest` that have not failed. Their rows get wrong (unless the plan has
/// checked it in the sandbox), time and latency_seconds, the same on every rank. vs_native is not
/// set.
///
/// A collective. Errors: what the algorithms throw, and Interrupted between two calls once a signal
/// came (cli/support/child.h).
void measure(Comm& dist, Contest& contest, const Plan& plan, const Marks& marks);

}  // namespace rankbox::cli
