// The end of a failed run: one report, after which no process is left.
//
// A rank that fails sends its error and its flight log to all others, on the control communicator.
// A rank that finds such a report sends its own. Waiting ranks check for reports
// (another_rank_failed()). The lowest rank that has reported compares all logs, prints the first
// cause, and calls MPI_Abort. It waits at most kPatienceSeconds for ranks that compute, or are
// inside MPI.
#pragma once

#include <exception>

#include "comm/flight_recorder.h"

namespace rankbox::mpi {

inline constexpr double kPatienceSeconds = 5;

/// Returns whether another rank's report has arrived. Costs one MPI_Iprobe.
bool another_rank_failed();

/// Ends all processes.
/// @param error this rank's own; null: it ends because of another rank
[[noreturn]] void end_failed_run(const std::exception_ptr& error, const FlightLog& log,
                                 int world_size);

}  // namespace rankbox::mpi
