// Measures one row: one rank's part.
//
// As nccl-tests do: the host's clock over many calls back to back, divided by their number, every
// size warmed up, a barrier and a synchronize() before and a synchronize() after. Where calls only
// put work in a queue, that is pipelined throughput; so there is a second figure, the latency of
// single calls, each with a barrier before (not timed) and a synchronize() after (timed).
#pragma once

#include "cli/perf/jobs.h"
#include "comm/comm.h"

namespace rankbox::perf {

/// The job's row with what was measured: the same on every rank. vs_native is not set.
///
///   seconds           the plan's average over the ranks
///   latency_seconds   the median over the iterations of the slowest rank's
///   wrong             over all ranks and checks
///
/// A collective. Errors: what the algorithm throws, and cli::Interrupted between two calls once
/// a signal came (cli/child.h).
Row measure(Comm& dist, const Job& job, const Plan& plan);

}  // namespace rankbox::perf
