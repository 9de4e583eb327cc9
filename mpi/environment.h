// The MPI library's start, on first use, and its end, when the program exits.
#pragma once

#include <atomic>

#include <mpi.h>

namespace rankbox::mpi {

struct Environment {
  int rank = 0;  // of this process among those that mpirun started
  int size = 1;
  int tag_bits = 15;  // that a tag may have
  int node = 0;       // of this process; nodes are numbered by their lowest rank
  int local_rank = 0;
  // Rankbox's own traffic: the beginning and the end of runs, and reports of failures.
  MPI_Comm control = MPI_COMM_NULL;
};

/// Starts MPI on first use; from then on errors are returned, not fatal. Call it from the main
/// thread. Where a program started MPI itself, that one is used, and left to the program to end.
const Environment& environment();

/// Ends all processes of the job. Print why before.
[[noreturn]] void end_all_processes(int exit_code);

/// Whether a run is under way. A process that exits then ends all others, which would wait for it.
std::atomic<bool>& is_running();

}  // namespace rankbox::mpi
