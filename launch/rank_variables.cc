#include "launch/rank_variables.h"

#include <limits>

#include <fmt/format.h>

#include "comm/errors.h"
#include "launch/slurm_lists.h"
#include "launch/whole_number.h"

namespace rankbox::launcher {

namespace {

constexpr int kMostRanks = 1 << 20;

/// Under which names a launcher says what; an empty name is one that it does not use.
struct Names {
  const char* launcher;
  const char* rank;
  const char* world_size;
  const char* local_rank;
  const char* local_size;
  const char* node;
  const char* job;
};

constexpr Names kTorchrun = {"torchrun",         "RANK",       "WORLD_SIZE",         "LOCAL_RANK",
                             "LOCAL_WORLD_SIZE", "GROUP_RANK", "TORCHELASTIC_RUN_ID"};
constexpr Names kOpenMpi = {"Open MPI",
                            "OMPI_COMM_WORLD_RANK",
                            "OMPI_COMM_WORLD_SIZE",
                            "OMPI_COMM_WORLD_LOCAL_RANK",
                            "OMPI_COMM_WORLD_LOCAL_SIZE",
                            "",
                            "PMIX_NAMESPACE"};
constexpr Names kPmi = {"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS",
                        "",    ""};
constexpr Names kSlurm = {
    "Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "", "SLURM_NODEID", ""};

constexpr const char* kWayOut = "set RANK and WORLD_SIZE, or start with torchrun, mpirun or srun";

/// -1 where it is unset.
int number(const Environment& environment, const std::string& name, int least) {
  const auto text = name.empty() ? std::nullopt : environment(name);
  if (!text) return -1;
  const auto value = whole_number(*text, least, kMostRanks);
  if (value) return *value;
  throw InvalidArgument(
      fmt::format("{}='{}' should be a whole number from {} to {}: correct it, or unset it", name,
                  *text, least, kMostRanks));
}

/// What this launcher says; the local part is left out where it is not told.
RankVariables read(const Names& names, const Environment& environment) {
  RankVariables who;
  who.launcher = names.launcher;
  who.rank = number(environment, names.rank, 0);
  who.world_size = number(environment, names.world_size, 1);
  if (who.world_size < 0) {
    throw InvalidArgument(fmt::format("{}={} but {} is not set: {}", names.rank, who.rank,
                                      names.world_size, kWayOut));
  }
  if (who.rank < 0) {
    throw InvalidArgument(fmt::format("{}={} but {} is not set: {}", names.world_size,
                                      who.world_size, names.rank, kWayOut));
  }
  if (who.rank >= who.world_size) {
    throw InvalidArgument(fmt::format("{}={} of {}={}: ranks count from 0, so {} is the last: {}",
                                      names.rank, who.rank, names.world_size, who.world_size,
                                      who.world_size - 1, kWayOut));
  }
  who.local_rank = number(environment, names.local_rank, 0);
  who.local_size = number(environment, names.local_size, 1);
  who.node = number(environment, names.node, 0);
  const char* job = names.job;
  if (*job != '\0') who.job = environment(job).value_or("");
  return who;
}

void check_local(const RankVariables& who, const std::string& rank_name,
                 const std::string& size_name) {
  if (who.local_size > who.world_size) {
    throw InvalidArgument(
        fmt::format("{}={} of a world of {} ranks: one node cannot have more than all of them: {}",
                    size_name, who.local_size, who.world_size, kWayOut));
  }
  const int local_size = who.local_size > 0 ? who.local_size : who.world_size;
  if (who.local_rank < local_size) return;
  throw InvalidArgument(fmt::format(
      "{}={} but {}: local ranks count from 0, so {} is the last: {}", rank_name, who.local_rank,
      who.local_size > 0 ? fmt::format("{}={}", size_name, who.local_size)
                         : fmt::format("the world has {} ranks", who.world_size),
      local_size - 1, kWayOut));
}

/// The shells that sbatch and salloc start look like rank 0 of something, and are not.
bool is_slurm_step(const Environment& environment) {
  constexpr long long kFirstSpecial = 0xfffffff0;  // batch …fb, interactive …fa, and others
  if (!environment("SLURM_PROCID") || !environment("SLURM_NTASKS")) return false;
  const auto step = environment("SLURM_STEP_ID");
  if (step) return std::strtoll(step->c_str(), nullptr, 10) < kFirstSpecial;
  return environment("SLURM_PROCID") != "0" || !environment("SLURM_JOB_ID");
}

RankVariables read_slurm(const Environment& environment) {
  constexpr const char* kTasks = "SLURM_STEP_TASKS_PER_NODE";
  RankVariables who = read(kSlurm, environment);
  std::string local_size = "SLURM_NTASKS_PER_NODE";  // only where asked for; the last may have less
  const auto counts = environment(kTasks);
  if (counts && who.node >= 0) {
    const std::vector<int> tasks = tasks_per_node(*counts, kTasks);
    if (static_cast<std::size_t>(who.node) >= tasks.size()) {
      throw InvalidArgument(fmt::format("SLURM_NODEID={} but {}='{}' tells of {} nodes: {}",
                                        who.node, kTasks, *counts, tasks.size(), kWayOut));
    }
    who.local_size = tasks[static_cast<std::size_t>(who.node)];
    local_size = kTasks;
  } else {
    who.local_size = number(environment, local_size, 1);
    if (who.local_size > who.world_size) who.local_size = who.world_size;
  }
  check_local(who, kSlurm.local_rank, local_size);
  const auto job = environment("SLURM_JOB_ID");
  if (job) who.job = *job + "." + environment("SLURM_STEP_ID").value_or("");
  return who;
}

RankVariables read_and_check(const Names& names, const Environment& environment) {
  RankVariables who = read(names, environment);
  check_local(who, names.local_rank, names.local_size);
  return who;
}

std::optional<RankVariables> of_mpi_or_slurm(const Environment& environment) {
  if (environment(kOpenMpi.rank) || environment(kOpenMpi.world_size)) {
    return read_and_check(kOpenMpi, environment);
  }
  const bool slurm = is_slurm_step(environment);
  if (environment(kPmi.rank) || environment(kPmi.world_size)) {
    const bool same = slurm && environment(kPmi.rank) == environment(kSlurm.rank) &&
                      environment(kPmi.world_size) == environment(kSlurm.world_size);
    return same ? read_slurm(environment) : read_and_check(kPmi, environment);
  }
  if (slurm) return read_slurm(environment);
  return std::nullopt;
}

std::optional<RankVariables> of_any(const Environment& environment) {
  if (environment(kTorchrun.rank)) return read_and_check(kTorchrun, environment);
  auto who = of_mpi_or_slurm(environment);
  if (who) {
    const int world_size = number(environment, kTorchrun.world_size, 1);
    if (world_size < 0 || world_size == who->world_size) return who;
    throw InvalidArgument(
        fmt::format("WORLD_SIZE={} but {} started {} ranks: unset WORLD_SIZE, or set RANK, too",
                    world_size, who->launcher, who->world_size));
  }
  for (const char* name : {kTorchrun.world_size, kTorchrun.local_rank, "PMIX_RANK"}) {
    const auto value = environment(name);
    if (!value) continue;
    const bool pmix = name == std::string("PMIX_RANK");
    if (pmix && environment("SLURM_JOB_ID")) continue;  // salloc's shell may have it
    throw InvalidArgument(fmt::format("{}={} but {} not set: {}", name, *value,
                                      pmix ? "RANK and WORLD_SIZE are" : "RANK is", kWayOut));
  }
  return std::nullopt;
}

}  // namespace

std::optional<RankVariables> rank_variables(const Environment& environment) {
  auto who = of_any(environment);
  if (!who) return std::nullopt;
  // Nobody has to say what follows.
  if (who->world_size == 1) who->local_size = 1;
  if (who->local_size == who->world_size && who->node < 0) who->node = 0;
  if (who->local_size == 1 && who->local_rank < 0) who->local_rank = 0;
  who->job = environment("RANKBOX_JOB").value_or(who->job);
  return who;
}

}  // namespace rankbox::launcher
