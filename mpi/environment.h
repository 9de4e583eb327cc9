// The MPI library's own life: started when somebody first asks for it, ended when the program exits.
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
  // Our own traffic: the beginning and the end of runs, and news of failures. Never the learner's.
  MPI_Comm lobby = MPI_COMM_NULL;
};

/// Starts MPI on first use; from then on errors are returned, not fatal. Call it from the main
/// thread. Where a program started MPI itself, that one is used, and left to the program to end.
const Environment& environment();

/// The last resort: ends all processes, with an exit code that is not 0. Say why before.
[[noreturn]] void end_all_processes();

/// Whether a run is under way. A process that exits then takes all others along: they would wait for
/// it.
std::atomic<bool>& is_running();

}  // namespace rankbox::mpi
