// Measures one contest: one rank's part.
//
// As in nccl-tests: the host's clock around calls back to back, divided by their number, every size
// warmed up, a barrier and a synchronize() before and a synchronize() after. Three things differ:
//
//   * An iteration is as many calls as take 0.5 ms, unless the plan says how many; and there are
//     several, so that there are a median and quartiles.
//   * The competitors take turns, iteration by iteration, forth and back. A noisy moment meets all
//     of them, so ratios within a contest are worth more than the times themselves.
//   * The slowest rank's time counts by default, and not the mean of the ranks'.
//
// latency_seconds is of single calls, each with a barrier before (not timed) and a synchronize()
// after (timed).
#pragma once

#include <cstddef>
#include <functional>

#include "cli/compare/plan/jobs.h"
#include "comm/comm.h"

namespace rankbox::cli {

/// Where a rank is. Called on every rank.
struct Marks {
  std::function<void(std::size_t job)> announce;  // before the ranks meet for its next call
  std::function<void(std::size_t job)> enter;     // when they have met
  std::function<void()> leave;  // when they have met again, after a call of a learner's job
};

/// Measures the jobs of `contest` that have not fallen. Their rows get wrong (unless the plan has
/// checked it in the sandbox), time and latency_seconds, the same on every rank. vs_native is not set.
///
/// A collective. Errors: what the algorithms throw, and Interrupted between two calls once a signal
/// came (cli/support/child.h).
void measure(Comm& dist, Contest& contest, const Plan& plan, const Marks& marks);

}  // namespace rankbox::cli
