#include "cli/compare/bundle.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <sstream>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/support/child.h"
#include "comm/errors.h"
#include "files/output_file.h"

namespace rankbox::cli {
namespace {

namespace fs = std::filesystem;

/// Returns whether the other machine must provide the library itself: libraries of the C library,
/// the NVIDIA driver and MPI. MPI's libraries must match its launcher.
bool is_of_the_system(const std::string& library) {
  static const std::regex pattern(
      "^(linux-vdso|ld-linux.*|libc|libm|libdl|librt|libpthread|libresolv|libutil|libcuda|"
      "libnvidia-.*|libmpi.*|libopen-(pal|rte).*|libpmix|libucp|libucs|libuct|libucm|libfabric|"
      "libhwloc|libevent.*|libz|libudev|libnuma|libcap)\\.so.*");
  return std::regex_match(library, pattern);
}

/// Returns the files of the other libraries that the program needs.
std::vector<fs::path> libraries_of(const std::string& program) {
  ChildOptions options;
  options.command = {"ldd", program};
  const ChildResult result = run_child(options);
  if (result.status != 0) throw Error(fmt::format("ldd {}: {}", program, result.output));
  std::vector<fs::path> libraries;
  std::istringstream lines(result.output);
  static const std::regex pattern("^\\s*(\\S+) => (.+?)( \\(0x[0-9a-f]+\\))?$");
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (!std::regex_match(line, match, pattern) || is_of_the_system(match[1])) continue;
    if (match[2].str().starts_with("not found")) {
      throw Error(
          fmt::format("{} needs {}, which is not on this machine", program, match[1].str()));
    }
    libraries.emplace_back(match[2].str());
  }
  return libraries;
}

/// Creates the folder. Accepts an empty folder or a bundle's, and throws for any other.
void make_folder(const fs::path& folder) {
  if (fs::exists(folder) && !fs::is_directory(folder)) {
    throw InvalidArgument(
        fmt::format("--bundle {}: this is a file, not a folder", folder.string()));
  }
  if (fs::exists(folder) && !fs::is_empty(folder) && !fs::exists(folder / "run.sh")) {
    throw InvalidArgument(fmt::format(
        "--bundle {}: the folder holds other files; name an empty or new one", folder.string()));
  }
  fs::create_directories(folder);
}

void copy_into(const fs::path& file, const fs::path& to) {
  fs::remove(to);  // the old one may be running
  fs::copy_file(fs::canonical(file), to);
}

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
  for (const Mine& each : bundle.libraries) {
    mine += fmt::format(" --mine-library {0}=\"$here/{0}.so\"", each.exercise);
  }
  std::vector<std::string> options;
  for (const std::string& option : options_beside(bundle, "$here")) {
    if (option.starts_with("$here/")) {
      options.push_back('"' + option + '"');
      continue;
    }
    const bool is_plain = option.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789_-./+=,:@%") == std::string::npos;
    options.push_back(is_plain ? option : "'" + option + "'");
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
  const fs::path folder = bundle.folder;
  try {
    make_folder(folder);
    const std::string name = "rankbox-compare-" + bundle.backend;
    copy_into(bundle.program, folder / name);
    for (const Mine& mine : bundle.libraries) {
      copy_into(mine.library, folder / (mine.exercise + ".so"));
    }
    if (const auto at = cluster_file_in(bundle.options)) {
      copy_into(bundle.options[*at], folder / kClusterFile);
    }
    fs::create_directories(folder / "lib");
    for (const fs::path& library : libraries_of(bundle.program)) {
      copy_into(library, folder / "lib" / library.filename());
    }
    const fs::path script = folder / "run.sh";
    write_file(script.string(), script_of(bundle));
    fs::permissions(script, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                    fs::perm_options::add);
  } catch (const fs::filesystem_error& error) {
    throw Error(fmt::format("--bundle {}: {}", bundle.folder, error.what()));
  }
}

}  // namespace rankbox::cli
