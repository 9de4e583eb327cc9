// Launchers' environment variables, as tables.
#include "gpu/launch/rank_variables.h"

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
  if (!who) return "none";
  return who->launcher + " " + std::to_string(who->rank) + "/" + std::to_string(who->world_size) +
         " local " + std::to_string(who->local_rank) + (who->one_node ? " one node" : "") +
         " job " + who->job;
}

// Real settings, reduced to the relevant variables.
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
                         {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_NODES", "3"},
                         {"SLURM_JOB_ID", "42"}};
// sbatch's shell, which runs alone.
const Variables kBatch = {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "5"},  {"SLURM_LOCALID", "0"},
                          {"SLURM_NODEID", "0"}, {"SLURM_JOB_ID", "42"}, {"SLURM_NNODES", "3"}};

/// Returns `base` with changes; "-" removes a variable.
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
      {"nothing", {}, "none"},
      {"torchrun", kTorchrun, "torchrun 5/8 local 1 job run"},
      {"by hand", {{"RANK", "1"}, {"WORLD_SIZE", "2"}}, "torchrun 1/2 local -1 job "},
      {"by hand, alone", {{"RANK", "0"}, {"WORLD_SIZE", "1"}}, "torchrun 0/1 local -1 job "},
      {"mpirun", kOpenMpi, "Open MPI 3/4 local 1 job 123"},
      {"mpirun on one node", with(kOpenMpi, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}}),
       "Open MPI 3/4 local 1 one node job 123"},
      {"mpiexec.hydra", kMpich, "PMI 0/2 local 0 one node job "},
      {"srun", kSrun, "Slurm 3/5 local 1 job 42.0"},
      {"srun on one node", with(kSrun, {{"SLURM_STEP_NUM_NODES", "1"}}),
       "Slurm 3/5 local 1 one node job 42.0"},
      {"srun of an old Slurm",
       {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}, {"SLURM_LOCALID", "0"}},
       "Slurm 0/2 local 0 job "},
      {"a job named by RANKBOX_JOB", with(kTorchrun, {{"RANKBOX_JOB", "mine"}}),
       "torchrun 5/8 local 1 job mine"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    CHECK(in_words(rank_variables(environment_of(row.variables))) == row.expected);
  }
}

TEST_CASE("of several launchers the innermost decides") {
  const std::vector<Row> rows = {
      {"srun torchrun", both(kTorchrun, kSrun), "torchrun 5/8 local 1 job run"},
      {"mpirun torchrun", both(kTorchrun, kOpenMpi), "torchrun 5/8 local 1 job run"},
      {"mpirun in a Slurm job", both(kOpenMpi, kSrun), "Open MPI 3/4 local 1 job 123"},
      {"mpirun in a batch script", both(kOpenMpi, kBatch), "Open MPI 3/4 local 1 job 123"},
      {"mpiexec.hydra, its proxies by srun", both(kMpich, kSrun), "PMI 0/2 local 0 one node job "},
      {"srun --mpi=pmi2", both(kSrun, {{"PMI_RANK", "3"}, {"PMI_SIZE", "5"}}),
       "Slurm 3/5 local 1 job 42.0"},
      {"srun --mpi=pmix", both(kSrun, {{"PMIX_RANK", "3"}}), "Slurm 3/5 local 1 job 42.0"},
      {"srun in a script that exports WORLD_SIZE", with(kSrun, {{"WORLD_SIZE", "5"}}),
       "Slurm 3/5 local 1 job 42.0"},
      {"mpirun bash -c 'LOCAL_RANK=… …'", with(kOpenMpi, {{"LOCAL_RANK", "7"}}),
       "Open MPI 3/4 local 1 job 123"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    CHECK(in_words(rank_variables(environment_of(row.variables))) == row.expected);
  }
}

TEST_CASE("the shell of a Slurm job is no launch") {
  const std::vector<Row> rows = {
      {"sbatch", kBatch, "none"},
      {"sbatch without --ntasks", with(kBatch, {{"SLURM_NTASKS", "-"}}), "none"},
      {"the step that Slurm keeps for batch scripts",
       with(kBatch, {{"SLURM_STEP_ID", "4294967291"}}), "none"},
      {"the step that Slurm keeps for salloc's shell",
       with(kBatch, {{"SLURM_STEP_ID", "4294967290"}}), "none"},
      {"salloc's shell, by PMIx",
       with(kBatch, {{"SLURM_STEP_ID", "4294967290"}, {"PMIX_RANK", "0"}}), "none"},
      {"srun in it", with(kBatch, {{"SLURM_STEP_ID", "7"}}), "Slurm 0/5 local 0 job 42.7"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    CHECK(in_words(rank_variables(environment_of(row.variables))) == row.expected);
  }
}

TEST_CASE("variables that are incomplete, contradictory or no numbers are refused, in one line") {
  struct Refused {
    Variables variables;
    std::vector<std::string> named;  // in the message
  };
  const std::vector<Refused> rows = {
      {{{"RANK", "3"}}, {"RANK=3", "WORLD_SIZE"}},
      {{{"WORLD_SIZE", "4"}}, {"WORLD_SIZE=4", " RANK "}},
      {{{"LOCAL_RANK", "1"}}, {"LOCAL_RANK=1", " RANK "}},
      {{{"RANK", "4"}, {"WORLD_SIZE", "4"}}, {"RANK=4", "WORLD_SIZE=4"}},
      {{{"RANK", "x"}, {"WORLD_SIZE", "4"}}, {"RANK='x'"}},
      {{{"RANK", "-1"}, {"WORLD_SIZE", "4"}}, {"RANK='-1'"}},
      {{{"RANK", "1.0"}, {"WORLD_SIZE", "4"}}, {"RANK='1.0'"}},
      {{{"RANK", "0"}, {"WORLD_SIZE", "0"}}, {"WORLD_SIZE='0'"}},
      {{{"RANK", "0"}, {"WORLD_SIZE", "99999999999"}}, {"WORLD_SIZE='99999999999'"}},
      {with(kTorchrun, {{"LOCAL_RANK", "y"}}), {"LOCAL_RANK='y'"}},
      {with(kOpenMpi, {{"OMPI_COMM_WORLD_SIZE", "-"}}),
       {"OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE"}},
      {with(kOpenMpi, {{"OMPI_COMM_WORLD_RANK", "-"}}),
       {"OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_RANK"}},
      {with(kMpich, {{"PMI_SIZE", "-"}}), {"PMI_RANK=0", "PMI_SIZE"}},
      {{{"PMIX_RANK", "1"}}, {"PMIX_RANK=1", "RANK and WORLD_SIZE"}},
      {with(kSrun, {{"SLURM_PROCID", "5"}}), {"SLURM_PROCID=5", "SLURM_NTASKS=5"}},
      {with(kSrun, {{"WORLD_SIZE", "4"}}), {"WORLD_SIZE=4", "Slurm", "5"}},
  };
  for (const Refused& row : rows) {
    std::string message = "was accepted";
    try {
      rank_variables(environment_of(row.variables));
    } catch (const InvalidArgument& error) {
      message = error.what();
    }
    CAPTURE(message);
    for (const std::string& name : row.named) CHECK(message.find(name) != std::string::npos);
    CHECK(message.find('\n') == std::string::npos);
  }
}

}  // namespace
}  // namespace rankbox::launcher
