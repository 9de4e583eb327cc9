// The rank of this process, from the variables that its launcher set.
//
// The first launcher in this list whose variables are set decides:
//
//   torchrun     RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE
//   Open MPI     OMPI_COMM_WORLD_RANK, …_SIZE, …_LOCAL_RANK, …_LOCAL_SIZE
//   PMI          PMI_RANK, PMI_SIZE, MPI_LOCALRANKID, MPI_LOCALNRANKS (MPICH, Intel MPI)
//   Slurm        SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID, SLURM_STEP_NUM_NODES
//
// The order matters because launchers nest: under `srun torchrun` or mpirun in a Slurm job, the
// variables of the outer launcher describe its agents, one per node.
//
//  - RANK alone selects torchrun. Job scripts often export WORLD_SIZE and LOCAL_RANK; without RANK
//    they are ignored where another launcher is found, unless the world sizes differ.
// - `srun --mpi=pmi2` sets the variables of PMI and of Slurm; Slurm's are more complete.
//  - PMIX_RANK comes without a size. `srun --mpi=pmix` and Open MPI set their own variables as
//    well; any other PMIx launcher needs RANK and WORLD_SIZE set by hand.
//  - The shell of sbatch or salloc has SLURM_PROCID=0 but is not a job step: SLURM_STEP_ID is
//    missing, or is one of the numbers that Slurm reserves for such shells.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace rankbox::launcher {

/// Returns the value of an environment variable, or nothing if it is unset: the process's own, or
/// in a test from a table.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// Returns this process's environment. Empty values count as unset.
Environment process_environment();

/// Returns the integer that a variable holds, or nothing if it is unset.
/// Throws InvalidArgument with the variable, its value and the range for anything else.
std::optional<int> number_in(const Environment& environment, const std::string& name, int min,
                             int max);

struct RankVariables {
  int rank = 0;
  int world_size = 1;
  int local_rank = -1;    // -1: not set by the launcher
  bool one_node = false;  // all ranks are known to run on this node
  std::string launcher;   // "torchrun", "Open MPI", "PMI" or "Slurm"
  std::string job;        // RANKBOX_JOB, or the launcher's id of the job; may be empty
};

/// Returns nothing if no launcher started this process.
/// Throws InvalidArgument, in one line with variable, value and fix, for variables that are
/// incomplete, contradict each other, or are not numbers.
std::optional<RankVariables> rank_variables(const Environment& environment = process_environment());

/// Returns this process's rank if a launcher started several. Returns nothing for a single process:
/// its ranks are then threads. Reads the environment once; throws as rank_variables does.
const std::optional<RankVariables>& launched();

}  // namespace rankbox::launcher
