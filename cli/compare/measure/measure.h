// One rank's part in measuring one contest.
//
// The method is that of nccl-tests: the host's clock around back-to-back calls, divided by their
// number. Every size is warmed up. A barrier and a synchronize() precede the calls, a synchronize()
// follows. These differ most:
//
//   * An iteration is as many calls as take 0.5 ms, unless the plan sets the number. There are
//     several iterations, for a median and quartiles.
//   * The competitors take turns, iteration by iteration, in alternating order. Noise affects all
//     of them, so ratios within a contest are more reliable than the times themselves.
//   * The slowest rank's time counts by default, not the mean over ranks.
//
// latency_seconds and p99_seconds are measured on single calls: on the iterations if they have one
// call; else on at least 100, unless the plan sets the number of iterations. Each has a barrier
// before (not timed) and a synchronize() after (timed).
//
// mean_seconds is what nccl-tests print: of NCCL's native collectives, one more interval holds as
// many iterations, back to back, and the mean over ranks counts.
//
// Buffers hold random numbers and take turns (buffer_pool.h). Results are checked before times are
// taken, and timed calls keep no records (set_timed() in backend.h). docs/gpu.md has a table of all
// that, beside nccl-tests.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "cli/compare/plan/jobs.h"
#include "cli/compare/plan/plan.h"
#include "comm/comm.h"

namespace rankbox::cli {

/// Callbacks that report a rank's position. Called on every rank.
struct Marks {
  std::function<void(std::size_t job)> announce;  // before the ranks synchronize for its next call
  std::function<void(std::size_t job)> enter;     // after they have synchronized
  std::function<void()> leave;  // after the same, following a call of a learner's job
};

/// Measures the jobs of `contest` that have not failed. Sets time, latency_seconds, p99_seconds and
/// mean_seconds of their rows, the same on every rank, and wrong unless it was checked in the
/// sandbox. Does not set vs_native and vs_ring.
///
/// A collective. Throws what the algorithms throw, and Interrupted between two calls after a signal
/// (cli/support/child.h).
/// @param pool_bytes of this rank's inputs that take turns (buffer_pool.h)
void measure(Comm& dist, Contest& contest, const Plan& plan, const Marks& marks,
             std::int64_t pool_bytes);

/// Returns the value that a part q of the samples does not exceed. Interpolates linearly between
/// samples. REQUIRES: not empty.
double quantile(std::vector<double> samples, double q);

/// Returns the median and quartiles. REQUIRES: not empty.
Times summarize(const std::vector<double>& seconds);

}  // namespace rankbox::cli
