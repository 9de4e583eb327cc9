// The end of a run that fails: one report, and no process is left.
//
// A rank that fails sends all others its error and its flight log, on the control communicator. A
// rank that sees such a report sends its own. A waiting rank looks there (another_rank_failed()).
// The lowest rank that has reported compares all logs, prints the first cause, and calls MPI_Abort.
// It waits at most kPatienceSeconds for ranks that compute, or are inside MPI.
#pragma once

#include <exception>

#include "comm/flight_recorder.h"

namespace rankbox::mpi {

inline constexpr double kPatienceSeconds = 5;

/// Whether a report of another rank has come. Costs one MPI_Iprobe.
bool another_rank_failed();

/// Ends all processes.
/// @param error of this rank itself; null: it ends because of another one
[[noreturn]] void end_failed_run(const std::exception_ptr& error, const FlightLog& log,
                                 int world_size);

}  // namespace rankbox::mpi
