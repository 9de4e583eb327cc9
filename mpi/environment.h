// Starts the MPI library on first use, and ends it when the program exits.
#pragma once

#include <atomic>

#include <mpi.h>

namespace rankbox::mpi {

struct Environment {
  int rank = 0;  // of this process among those that mpirun started
  int size = 1;
  int tag_bits = 15;  // usable bits of a tag
  int node = 0;       // of this process; nodes are numbered by their lowest rank
  int local_rank = 0;
  // For Rankbox's own messages: the beginning and the end of runs, and reports of failures.
  MPI_Comm control = MPI_COMM_NULL;
};

/// Starts MPI on first use; from then on errors are returned, not fatal. Call it from the main
/// thread. If the program has started MPI itself, uses that instance and leaves its end to the
/// program.
const Environment& environment();

/// Ends all processes of the job. Print the reason first.
[[noreturn]] void end_all_processes(int exit_code);

/// Whether a run is in progress. A process that exits then ends all others, which would wait for
/// it.
std::atomic<bool>& is_running();

}  // namespace rankbox::mpi
