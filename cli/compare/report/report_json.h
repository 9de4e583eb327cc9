// A comparison as JSON: the same shape on every backend.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/compare/measure/devices.h"
#include "cli/compare/plan/plan.h"

namespace rankbox::cli {

/// The parts of a report besides its rows.
struct Occasion {
  std::string backend;                 // "sim", "mpi", "nccl"
  std::string started;                 // local time
  std::vector<std::string> arguments;  // as typed
  std::vector<Device> devices;         // [rank], of the last world; empty in the sandbox
};

/// Returns {version, backend, collective, op, dtype, cores, executor, virtual, cluster{}, started,
/// arguments, environment, devices[], average_busbw_gbps, results[]}. Unknown values are null.
nlohmann::ordered_json to_json(const Plan& plan, const std::vector<Row>& rows,
                               const Occasion& occasion);

/// Writes the report to the file; "-": to standard output. Throws Error.
void write_json(const nlohmann::ordered_json& report, const std::string& path);

/// Returns "2026-01-31 23:59:59".
std::string time_now();

/// Returns the mean over all rows that have one, in bytes per second. NCCL_TESTS_MIN_BW is its
/// lower bound.
double average_bus_bandwidth(const std::vector<Row>& rows);

}  // namespace rankbox::cli
