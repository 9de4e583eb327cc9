// The command line of a comparison: options of nccl-tests, and a few more.
//
// `./rankbox compare` and the program of each backend share it.
#pragma once

#include <string>
#include <vector>

#include "cli/compare/plan/plan.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

/// The arguments as typed.
struct CompareArguments {
  std::string collectives = "all_reduce";
  std::string algorithms;
  std::string ops = "SUM";
  std::string ranks;
  std::string sizes;
  std::string min_bytes, max_bytes;
  std::string step_bytes = "1M";
  int step_factor = 0;
  int threads = 0, gpus = 0;  // nccl-tests' -t and -g: ranks are their product
  int iterations = 0, calls = 0, warmup = 3, checks = 1;
  int average = static_cast<int>(Average::kMax);
  int root = 0, segments = 0;
  double deadline_seconds = 0;
  std::string datatype = "float";
  std::string cluster;
  std::string buffering = "rendezvous";
  std::string executor = "auto";
  std::vector<std::string> baselines;
  bool lists_clusters = false;
  bool without_data = false;      // --virtual
  std::string json;               // the file for the figures; "": none, "-": stdout, and no table
  std::vector<std::string> mine;  // --mine, as typed

  // Options of the backends' programs only.
  bool shows_backend = false;
  bool shows_ranks = false;
  bool shows_cluster = false;
  std::vector<std::string> mine_libraries;
  std::string stream;  // the pipe of the process that started this one
  std::size_t first_contest = 0;
  bool judge_only = false;   // in the sandbox: measures no times
  bool is_baseline = false;  // a child process that reports its rows on kReportFd
};

/// Options that the subcommand and the programs share.
void add_compare_options(CLI::App& app, CompareArguments& typed);
/// Options of the backends' programs, which also run on other machines.
void add_program_options(CLI::App& app, CompareArguments& typed);
/// Lists common options first in the help. Call it when all are there.
void group_compare_options(CLI::App& app);

/// Throws InvalidArgument for options that have no meaning with --virtual.
void check_virtual(const CLI::App& app, const CompareArguments& typed);

/// Returns whether the arguments set the world sizes.
bool has_ranks(const CompareArguments& typed);

/// Throws InvalidArgument if the plan's cluster is too small for one of its worlds.
void check_worlds(const Plan& plan);

/// Throws InvalidArgument, in one line, for invalid options.
/// @param default_ranks used if the arguments set no world size
Plan plan_of(const CompareArguments& typed, const std::vector<int>& default_ranks);

/// Returns the options as typed, without those of add_program_options and `left_out`, to pass to
/// another process.
std::vector<std::string> typed_options(const CLI::App& app,
                                       const std::vector<std::string>& left_out);

}  // namespace rankbox::cli
