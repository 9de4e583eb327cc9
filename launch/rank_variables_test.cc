// What launchers leave in the environment, as tables.
#include "launch/rank_variables.h"

#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "comm/errors.h"

namespace rankbox::launcher {
namespace {

using Variables = std::map<std::string, std::string>;

Environment environment_of(Variables variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

std::string in_words(const std::optional<RankVariables>& who) {
  if (!who) return "alone";
  return who->launcher + " " + std::to_string(who->rank) + "/" + std::to_string(who->world_size) +
         " local " + std::to_string(who->local_rank) + "/" + std::to_string(who->local_size) +
         " node " + std::to_string(who->node) + " job " + who->job;
}

// What they really set, shortened to what matters.
const Variables kTorchrun = {{"RANK", "5"},        {"WORLD_SIZE", "8"},
                             {"LOCAL_RANK", "1"},  {"LOCAL_WORLD_SIZE", "4"},
                             {"GROUP_RANK", "1"},  {"MASTER_ADDR", "a"},
                             {"MASTER_PORT", "1"}, {"TORCHELASTIC_RUN_ID", "run"}};
const Variables kOpenMpi = {{"OMPI_COMM_WORLD_RANK", "3"},
                            {"OMPI_COMM_WORLD_SIZE", "4"},
                            {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                            {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                            {"OMPI_COMM_WORLD_NODE_RANK", "1"},
                            {"PMIX_RANK", "3"},
                            {"PMIX_NAMESPACE", "123"}};
const Variables kMpich = {
    {"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "0"}, {"MPI_LOCALNRANKS", "2"}};
const Variables kSrun = {{"SLURM_PROCID", "3"},  {"SLURM_NTASKS", "5"},
                         {"SLURM_LOCALID", "1"}, {"SLURM_NODEID", "1"},
                         {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_TASKS_PER_NODE", "2(x2),1"},
                         {"SLURM_JOB_ID", "42"}};
// Of sbatch: a shell that runs alone.
const Variables kBatch = {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "5"},  {"SLURM_LOCALID", "0"},
                          {"SLURM_NODEID", "0"}, {"SLURM_JOB_ID", "42"}, {"SLURM_NNODES", "3"}};

/// `base` and what differs; "-" takes a variable away.
Variables with(Variables base, const Variables& more) {
  for (const auto& [name, value] : more) {
    base[name] = value;
    if (value == "-") base.erase(name);
  }
  return base;
}

Variables both(const Variables& base, const Variables& more) { return with(base, more); }

struct Row {
  std::string what;
  Variables variables;
  std::string expected;
};

TEST_CASE("every launcher's ranks are known by its variables") {
  const std::vector<Row> rows = {
      {"nothing", {}, "alone"},
      {"torchrun", kTorchrun, "torchrun 5/8 local 1/4 node 1 job run"},
      {"by hand", {{"RANK", "1"}, {"WORLD_SIZE", "2"}}, "torchrun 1/2 local -1/-1 node -1 job "},
      {"by hand, alone",
       {{"RANK", "0"}, {"WORLD_SIZE", "1"}},
       "torchrun 0/1 local 0/1 node 0 job "},
      {"mpirun", kOpenMpi, "Open MPI 3/4 local 1/2 node -1 job 123"},
      {"mpirun on one node", with(kOpenMpi, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}}),
       "Open MPI 3/4 local 1/4 node 0 job 123"},
      {"mpiexec.hydra", kMpich, "PMI 0/2 local 0/2 node 0 job "},
      {"srun", kSrun, "Slurm 3/5 local 1/2 node 1 job 42.0"},
      {"srun, the node with fewer tasks",
       with(kSrun, {{"SLURM_PROCID", "4"}, {"SLURM_NODEID", "2"}, {"SLURM_LOCALID", "0"}}),
       "Slurm 4/5 local 0/1 node 2 job 42.0"},
      {"srun that tells less",
       with(kSrun, {{"SLURM_STEP_TASKS_PER_NODE", "-"}, {"SLURM_NTASKS_PER_NODE", "2"}}),
       "Slurm 3/5 local 1/2 node 1 job 42.0"},
      {"srun that tells least",
       {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}, {"SLURM_LOCALID", "0"}},
       "Slurm 0/2 local 0/-1 node -1 job "},
      {"a job named by us", with(kTorchrun, {{"RANKBOX_JOB", "mine"}}),
       "torchrun 5/8 local 1/4 node 1 job mine"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    CHECK(in_words(rank_variables(environment_of(row.variables))) == row.expected);
  }
}

TEST_CASE("of several launchers the innermost decides") {
  const std::vector<Row> rows = {
      {"srun torchrun", both(kTorchrun, kSrun), "torchrun 5/8 local 1/4 node 1 job run"},
      {"mpirun torchrun", both(kTorchrun, kOpenMpi), "torchrun 5/8 local 1/4 node 1 job run"},
      {"mpirun in a Slurm job", both(kOpenMpi, kSrun), "Open MPI 3/4 local 1/2 node -1 job 123"},
      {"mpirun in a batch script", both(kOpenMpi, kBatch),
       "Open MPI 3/4 local 1/2 node -1 job 123"},
      {"mpiexec.hydra, its proxies by srun", both(kMpich, kSrun), "PMI 0/2 local 0/2 node 0 job "},
      {"srun --mpi=pmi2", both(kSrun, {{"PMI_RANK", "3"}, {"PMI_SIZE", "5"}}),
       "Slurm 3/5 local 1/2 node 1 job 42.0"},
      {"srun --mpi=pmix", both(kSrun, {{"PMIX_RANK", "3"}}), "Slurm 3/5 local 1/2 node 1 job 42.0"},
      {"srun in a script that exports WORLD_SIZE", with(kSrun, {{"WORLD_SIZE", "5"}}),
       "Slurm 3/5 local 1/2 node 1 job 42.0"},
      {"mpirun bash -c 'LOCAL_RANK=… …'", with(kOpenMpi, {{"LOCAL_RANK", "7"}}),
       "Open MPI 3/4 local 1/2 node -1 job 123"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    CHECK(in_words(rank_variables(environment_of(row.variables))) == row.expected);
  }
}

TEST_CASE("the shell of a Slurm job is no launch") {
  const std::vector<Row> rows = {
      {"sbatch", kBatch, "alone"},
      {"sbatch without --ntasks", with(kBatch, {{"SLURM_NTASKS", "-"}}), "alone"},
      {"the step that Slurm keeps for batch scripts",
       with(kBatch, {{"SLURM_STEP_ID", "4294967291"}}), "alone"},
      {"the step that Slurm keeps for salloc's shell",
       with(kBatch, {{"SLURM_STEP_ID", "4294967290"}}), "alone"},
      {"salloc's shell, by PMIx",
       with(kBatch, {{"SLURM_STEP_ID", "4294967290"}, {"PMIX_RANK", "0"}}), "alone"},
      {"srun in it", with(kBatch, {{"SLURM_STEP_ID", "7"}}),
       "Slurm 0/5 local 0/-1 node 0 job 42.7"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    CHECK(in_words(rank_variables(environment_of(row.variables))) == row.expected);
  }
}

TEST_CASE("what is incomplete, contradicts itself or is no number is refused, in one line") {
  // `expected` is how the message begins; a way out is at the end of each.
  const std::vector<Row> rows = {
      {"", {{"RANK", "3"}}, "RANK=3 but WORLD_SIZE is not set: "},
      {"", {{"WORLD_SIZE", "4"}}, "WORLD_SIZE=4 but RANK is not set: "},
      {"", {{"LOCAL_RANK", "1"}}, "LOCAL_RANK=1 but RANK is not set: "},
      {"", {{"RANK", "4"}, {"WORLD_SIZE", "4"}}, "RANK=4 of WORLD_SIZE=4: "},
      {"", {{"RANK", "x"}, {"WORLD_SIZE", "4"}}, "RANK='x' should be a whole number from 0 to "},
      {"", {{"RANK", "-1"}, {"WORLD_SIZE", "4"}}, "RANK='-1' should be"},
      {"", {{"RANK", "1.0"}, {"WORLD_SIZE", "4"}}, "RANK='1.0' should be"},
      {"", {{"RANK", "0"}, {"WORLD_SIZE", "0"}}, "WORLD_SIZE='0' should be a whole number from 1 "},
      {"", {{"RANK", "0"}, {"WORLD_SIZE", "99999999999"}}, "WORLD_SIZE='99999999999' should be"},
      {"", with(kTorchrun, {{"LOCAL_RANK", "4"}}), "LOCAL_RANK=4 but LOCAL_WORLD_SIZE=4: "},
      {"", with(kTorchrun, {{"LOCAL_WORLD_SIZE", "9"}}),
       "LOCAL_WORLD_SIZE=9 of a world of 8 ranks: "},
      {"",
       {{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"LOCAL_RANK", "2"}},
       "LOCAL_RANK=2 but the world has 2 ranks: "},
      {"", with(kOpenMpi, {{"OMPI_COMM_WORLD_SIZE", "-"}}),
       "OMPI_COMM_WORLD_RANK=3 but OMPI_COMM_WORLD_SIZE is not set: "},
      {"", with(kOpenMpi, {{"OMPI_COMM_WORLD_RANK", "-"}}),
       "OMPI_COMM_WORLD_SIZE=4 but OMPI_COMM_WORLD_RANK is not set: "},
      {"", with(kMpich, {{"PMI_SIZE", "-"}}), "PMI_RANK=0 but PMI_SIZE is not set: "},
      {"", {{"PMIX_RANK", "1"}}, "PMIX_RANK=1 but RANK and WORLD_SIZE are not set: "},
      {"", with(kSrun, {{"SLURM_PROCID", "5"}}), "SLURM_PROCID=5 of SLURM_NTASKS=5: "},
      {"", with(kSrun, {{"SLURM_NODEID", "3"}}),
       "SLURM_NODEID=3 but SLURM_STEP_TASKS_PER_NODE='2(x2),1' tells of 3 nodes: "},
      {"", with(kSrun, {{"SLURM_LOCALID", "2"}}),
       "SLURM_LOCALID=2 but SLURM_STEP_TASKS_PER_NODE=2: "},
      {"", with(kSrun, {{"SLURM_STEP_TASKS_PER_NODE", "2(x"}}),
       "SLURM_STEP_TASKS_PER_NODE='2(x' should be"},
      {"", with(kSrun, {{"WORLD_SIZE", "4"}}), "WORLD_SIZE=4 but Slurm started 5 ranks: "},
  };
  for (const Row& row : rows) {
    CAPTURE(row.expected);
    std::string message = "was accepted";
    try {
      rank_variables(environment_of(row.variables));
    } catch (const InvalidArgument& error) {
      message = error.what();
    }
    CAPTURE(message);
    CHECK(message.rfind(row.expected, 0) == 0);
    CHECK(message.find("set") != std::string::npos);
    CHECK(message.find('\n') == std::string::npos);
  }
}

}  // namespace
}  // namespace rankbox::launcher
