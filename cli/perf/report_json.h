// The figures as JSON: the keys of nccl-tests' -J, and some of our own.
//
// version, start_time, args, env, nccl_version, config{}, devices[], results[], out_of_bounds{},
// average_bus_bandwidth{}, end_time. A result has size, count, type, redop, root, out_of_place and
// in_place, of which one is null (see table.h); ours are collective, algorithm, vs_native, latency
// and virtual_us. Times are microseconds, bandwidths GB/s.
#pragma once

#include <string>
#include <vector>

#include "cli/perf/table.h"

namespace rankbox::perf {

/// What is known beside the figures.
struct Occasion {
  std::string start_time;  // "2025-01-31 23:59:59"
  std::string end_time;
  std::vector<std::string> arguments;    // argv
  std::vector<std::string> environment;  // "NAME=value", see relevant_environment()
};

/// "2025-01-31 23:59:59", local time.
std::string time_now();

/// The variables that a run may depend on: those of NCCL, CUDA, MPI and the launchers. Not all: the
/// environment holds secrets, and a report is passed around.
std::vector<std::string> relevant_environment();

/// Text that ends in a line feed.
std::string to_json(const Plan& plan, const std::vector<Device>& devices,
                    const std::vector<Row>& rows, const Totals& totals, const Occasion& occasion);

}  // namespace rankbox::perf
