// The command line of rankbox-compare: nccl-tests' options, and some of our own.
#pragma once

#include <string>
#include <vector>

#include "cli/perf/plan.h"

namespace rankbox::perf {

/// All that was asked for.
struct Request {
  enum class Task { kMeasure, kShowHelp, kShowBackend, kListClusters };
  Task task = Task::kMeasure;
  Plan plan;
  std::string help;   // kShowHelp: the text
  std::string json;   // the file for the figures; "": none, "-": stdout, and no table
  int processes = 0;  // to start on this machine, one rank each; 0: none
  bool has_default_baselines = true;  // nothing was said about them
  bool is_baseline = false;           // a child of a run that wants the figures on cli::kReportFd
};

/// @param arguments argv, the program's name first
/// Throws InvalidArgument, in one line, for whatever cannot be.
Request parse_options(const std::vector<std::string>& arguments);

/// Options that make the same plan, but for what only changes the report: for a process that
/// measures its native collective alone.
std::vector<std::string> options_for_baseline(const Plan& plan);

/// "native-ring:NCCL_ALGO=RING". Throws InvalidArgument.
Baseline parse_baseline(const std::string& text);

}  // namespace rankbox::perf
