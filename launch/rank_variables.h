// Who is this process? What the launcher that started it left in its environment.
//
// The first of these that is there decides:
//
//   torchrun     RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, GROUP_RANK
//   Open MPI     OMPI_COMM_WORLD_RANK, …_SIZE, …_LOCAL_RANK, …_LOCAL_SIZE
//   PMI          PMI_RANK, PMI_SIZE, MPI_LOCALRANKID, MPI_LOCALNRANKS (MPICH, Intel MPI)
//   Slurm        SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID, SLURM_STEP_TASKS_PER_NODE, SLURM_NODEID
//
// In this order, because each of them may have been started by one of those below, whose variables
// are then the agent's, one per node: `srun torchrun`, or mpirun in a Slurm job.
//
//  - RANK alone decides. WORLD_SIZE and LOCAL_RANK are often exported by job scripts: without RANK
//    they are ignored where another launcher says who we are, unless the sizes differ.
//  - OMPI_COMM_WORLD_NODE_RANK is not a node's number, but counts processes on this node.
//  - `srun --mpi=pmi2` sets PMI's and Slurm's, the same; then Slurm's are taken, which tell more.
//  - PMIX_RANK comes without a size: `srun --mpi=pmix` and Open MPI set their own as well, and any
//    other PMIx launcher must be helped with RANK and WORLD_SIZE.
//  - The shell of sbatch or salloc has SLURM_PROCID=0 as well, but is no launch: SLURM_STEP_ID is
//    missing or one of the numbers that Slurm keeps for such shells.
#pragma once

#include <optional>
#include <string>

#include "launch/environment.h"

namespace rankbox::launcher {

struct RankVariables {
  int rank = 0;
  int world_size = 1;
  // What the launcher does not tell is -1; launch/placement.h finds it out.
  int local_rank = -1;
  int local_size = -1;
  int node = -1;
  std::string launcher;  // "torchrun", "Open MPI", "PMI" or "Slurm"
  std::string job;       // RANKBOX_JOB or the launcher's name of the job: tells jobs apart; may be
                         // empty
};

/// Nothing: no launcher started this process, it is alone.
/// Throws InvalidArgument, in one line with a variable, its value and the way out, for variables
/// that are incomplete, contradict each other, or are no numbers.
std::optional<RankVariables> rank_variables(const Environment& environment = process_environment());

}  // namespace rankbox::launcher
