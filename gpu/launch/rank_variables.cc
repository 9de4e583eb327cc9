#include "gpu/launch/rank_variables.h"

#include <cstdlib>

#include <fmt/format.h>

#include "comm/errors.h"
#include "comm/whole_number.h"

namespace rankbox::launcher {

namespace {

constexpr int kMaxRanks = 1 << 20;

/// A launcher's variables; an empty name is one that it does not set.
struct Names {
  const char* launcher;
  const char* rank;
  const char* world_size;
  const char* local_rank;
  const char* local_size;
  const char* job;
};

constexpr Names kTorchrun = {
    "torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "TORCHELASTIC_RUN_ID"};
constexpr Names kOpenMpi = {"Open MPI",
                            "OMPI_COMM_WORLD_RANK",
                            "OMPI_COMM_WORLD_SIZE",
                            "OMPI_COMM_WORLD_LOCAL_RANK",
                            "OMPI_COMM_WORLD_LOCAL_SIZE",
                            "PMIX_NAMESPACE"};
constexpr Names kPmi = {"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", ""};
constexpr Names kSlurm = {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "", ""};

constexpr const char* kFix = "set RANK and WORLD_SIZE, or start with torchrun, mpirun or srun";

RankVariables read(const Names& names, const Environment& environment) {
  const auto rank = number_in(environment, names.rank, 0, kMaxRanks);
  const auto world_size = number_in(environment, names.world_size, 1, kMaxRanks);
  if (rank.has_value() != world_size.has_value()) {
    throw InvalidArgument(
        fmt::format("{}={} but {} is not set: {}", rank ? names.rank : names.world_size,
                    rank ? *rank : *world_size, rank ? names.world_size : names.rank, kFix));
  }
  if (*rank >= *world_size) {
    throw InvalidArgument(fmt::format("{}={} with {}={}: ranks count from 0 to {}: {}", names.rank,
                                      *rank, names.world_size, *world_size, *world_size - 1, kFix));
  }
  RankVariables who;
  who.launcher = names.launcher;
  who.rank = *rank;
  who.world_size = *world_size;
  who.local_rank = number_in(environment, names.local_rank, 0, kMaxRanks).value_or(-1);
  who.one_node = number_in(environment, names.local_size, 1, kMaxRanks) == world_size;
  who.job = environment(names.job).value_or("");
  return who;
}

RankVariables read_slurm(const Environment& environment) {
  RankVariables who = read(kSlurm, environment);
  who.one_node = number_in(environment, "SLURM_STEP_NUM_NODES", 1, kMaxRanks) == 1;
  if (const auto job = environment("SLURM_JOB_ID"))
    who.job = *job + "." + environment("SLURM_STEP_ID").value_or("");
  return who;
}

/// Returns whether srun started this process; the shells of sbatch and salloc also look like rank
/// 0.
bool is_slurm_step(const Environment& environment) {
  constexpr long long kFirstReserved = 0xfffffff0;  // batch …fb, interactive …fa, and others
  if (!environment("SLURM_PROCID") || !environment("SLURM_NTASKS")) return false;
  const auto step = environment("SLURM_STEP_ID");
  if (step) return std::strtoll(step->c_str(), nullptr, 10) < kFirstReserved;
  return environment("SLURM_PROCID") != "0" || !environment("SLURM_JOB_ID");
}

bool is_set(const Names& names, const Environment& environment) {
  return environment(names.rank) || environment(names.world_size);
}

std::optional<RankVariables> read_mpi_or_slurm(const Environment& environment) {
  if (is_set(kOpenMpi, environment)) return read(kOpenMpi, environment);
  const bool slurm = is_slurm_step(environment);
  const bool same = environment(kPmi.rank) == environment(kSlurm.rank) &&
                    environment(kPmi.world_size) == environment(kSlurm.world_size);
  if (is_set(kPmi, environment) && !(slurm && same)) return read(kPmi, environment);
  if (slurm) return read_slurm(environment);
  return std::nullopt;
}

/// Throws for variables that require RANK.
void check_no_rank(const Environment& environment) {
  for (const char* name : {kTorchrun.world_size, kTorchrun.local_rank, "PMIX_RANK"}) {
    const auto value = environment(name);
    if (!value) continue;
    const bool pmix = name == std::string("PMIX_RANK");
    if (pmix && environment("SLURM_JOB_ID")) continue;  // salloc's shell may have it
    throw InvalidArgument(fmt::format("{}={} but {} not set: {}", name, *value,
                                      pmix ? "RANK and WORLD_SIZE are" : "RANK is", kFix));
  }
}

}  // namespace

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* const value = std::getenv(name.c_str());
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
  };
}

std::optional<int> number_in(const Environment& environment, const std::string& name, int min,
                             int max) {
  const auto text = environment(name);
  if (!text) return std::nullopt;
  if (const auto value = parse_whole_number(*text, min, max)) return static_cast<int>(*value);
  throw InvalidArgument(fmt::format(
      "{}='{}' is not a whole number from {} to {}: correct or unset it", name, *text, min, max));
}

std::optional<RankVariables> rank_variables(const Environment& environment) {
  std::optional<RankVariables> who;
  if (environment(kTorchrun.rank)) {
    who = read(kTorchrun, environment);
  } else if ((who = read_mpi_or_slurm(environment))) {
    const auto world_size = number_in(environment, kTorchrun.world_size, 1, kMaxRanks);
    if (world_size && *world_size != who->world_size) {
      throw InvalidArgument(
          fmt::format("WORLD_SIZE={} but {} started {} ranks: unset WORLD_SIZE, or set RANK, too",
                      *world_size, who->launcher, who->world_size));
    }
  } else {
    check_no_rank(environment);
    return std::nullopt;
  }
  who->job = environment("RANKBOX_JOB").value_or(who->job);
  return who;
}

const std::optional<RankVariables>& launched() {
  static const std::optional<RankVariables> several = [] {
    auto who = rank_variables();
    if (who && who->world_size == 1) who.reset();
    return who;
  }();
  return several;
}

}  // namespace rankbox::launcher
