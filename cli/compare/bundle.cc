#include "cli/compare/bundle.h"

#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/support/bundle_folder.h"
#include "cli/support/exec.h"

namespace rankbox::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kClusterFile = "cluster.toml";

/// Returns the index of the plan's cluster among the options if it is a file; else none.
std::optional<std::size_t> cluster_file_in(const std::vector<std::string>& options) {
  for (std::size_t i = 0; i + 1 < options.size(); ++i) {
    if (options[i] == "--cluster" && fs::is_regular_file(options[i + 1])) return i + 1;
  }
  return std::nullopt;
}

/// Returns the options, with the path of a cluster file replaced by its path in the bundle.
std::vector<std::string> options_beside(const Bundle& bundle, const std::string& folder) {
  std::vector<std::string> options = bundle.options;
  if (const auto at = cluster_file_in(options)) options[*at] = folder + "/" + kClusterFile;
  return options;
}

constexpr const char* kHeadOfScript = R"sh(#!/bin/sh
# Made by ./rankbox compare --backend {backend} --bundle. Measures on this machine:
# topologies, including yours, against the native collective.
#
#   ./run.sh                      with the options below
#   ./run.sh OPTION...            with other options of {program}: see ./run.sh --help
{launches}#
# Needs {needs},
# and a C library at least as new as that of the machine that made it.
here=$(cd "$(dirname "$0")" && pwd -P)
[ $# -gt 0 ] || set -- {options}
{command}
)sh";

std::string script_of(const Bundle& bundle) {
  const std::string name = "rankbox-compare-" + bundle.backend;
  std::string mine;
  for (const NamedFile& each : bundle.libraries) {
    mine += fmt::format(" --mine-library {0}=\"$here/{0}.so\"", each.name);
  }
  std::vector<std::string> options;
  for (const std::string& option : options_beside(bundle, "$here")) {
    if (option.starts_with("$here/")) {
      options.push_back('"' + option + '"');
      continue;
    }
    options.push_back(quoted_word(option));
  }
  const bool is_mpi = bundle.backend == "mpi";
  const char* const launches =
      is_mpi
          ? "#   RANKS=8 ./run.sh             8 processes on this machine\n"
            "#   MPIRUN='mpirun -n 16 --host node0:8,node1:8' ./run.sh      on two hosts\n"
            "#   MPIRUN='srun --ntasks 16' ./run.sh                        with Slurm\n"
          : "#   ./run.sh -g 8                one process, eight GPUs\n"
            "#   LAUNCH='mpirun --bind-to none -n 8' ./run.sh              eight processes\n"
            "#   LAUNCH='torchrun --no-python --nproc-per-node 8' ./run.sh\n"
            "#   LAUNCH='torchrun --no-python --nnodes 2 --node-rank I --nproc-per-node 8 \\\n"
            "#     --master-addr node0 --master-port 29500' ./run.sh       on each of two nodes\n"
            "#   LAUNCH='mpirun --bind-to none -n 16 --host node0:8,node1:8 \\\n"
            "#     -x MASTER_ADDR=node0' ./run.sh\n"
            "#   LAUNCH='srun --kill-on-bad-exit --nodes 2 --ntasks-per-node 8 \\\n"
            "#     --gpus-per-node 8' ./run.sh\n";
  const std::string program = fmt::format("\"$here/{}\"{} \"$@\"", name, mine);
  const std::string command = fmt::format(
      "export OMPI_MCA_rmaps_base_oversubscribe=1\n"
      "[ \"$(id -u)\" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 "
      "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1\n"
      "exec {} {}",
      is_mpi ? "${MPIRUN:-mpirun -n ${RANKS:-2}}" : "${LAUNCH:-}", program);
  return fmt::format(fmt::runtime(kHeadOfScript), fmt::arg("backend", bundle.backend),
                     fmt::arg("program", name), fmt::arg("launches", launches),
                     fmt::arg("needs", is_mpi ? "MPI of the same kind and version, with its mpirun"
                                              : "an NVIDIA driver"),
                     fmt::arg("options", fmt::join(options, " ")), fmt::arg("command", command));
}

}  // namespace

void write_bundle(const Bundle& bundle) {
  BundleFolder folder;
  folder.path = bundle.folder;
  folder.programs = {{bundle.program, "rankbox-compare-" + bundle.backend}};
  for (const NamedFile& mine : bundle.libraries)
    folder.others.push_back({mine.file, mine.name + ".so"});
  if (const auto at = cluster_file_in(bundle.options)) {
    folder.others.push_back({bundle.options[*at], kClusterFile});
  }
  folder.script = script_of(bundle);
  write_bundle_folder(folder);
}

}  // namespace rankbox::cli
