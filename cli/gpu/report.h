// What `rankbox gpu` reports about a machine, as plain data, and its three forms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace rankbox::cli {

/// What CUDA and NCCL report, printed by the program gpu_machine.
struct Machine {
  std::vector<std::string> gpus;  // names, by device
  std::string driver;             // "580.65.06", or "unknown"
  std::string cuda_driver;        // "13.0": the CUDA version of the driver
  std::string cuda_runtime;       // and of the programs
  std::string nccl;               // "2.28.9"
  // Ordered pairs of different GPUs: all, with peer access, and with atomics over the link.
  int pairs = 0, peer_access = 0, native_atomics = 0;

  /// Returns whether NVLink connects all GPUs, as far as CUDA reports it: PCIe has no atomics.
  bool has_nvlink() const { return pairs > 0 && native_atomics == pairs; }
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Machine, gpus, driver, cuda_driver, cuda_runtime, nccl, pairs,
                                   peer_access, native_atomics)

enum class State : std::uint8_t { kMet, kNotMet, kMeasured, kNotMeasured };

struct Line {
  std::string section;                // its name, as in --only
  std::string what;                   // "accumulate, 64 MiB"
  std::string value;                  // "93 % of the copy"; empty if not measured
  std::optional<double> number;       // the value without its unit, where it is one number
  std::string target;                 // "at least 90 %"; empty: none
  State state = State::kNotMeasured;  // kMeasured: there is no target, or it does not apply
  std::string because;                // why it is not measured
  bool is_failure = false;            // because a program failed
};

struct Report {
  std::string date;  // "2026-11-22 20:15", local time
  Machine machine;
  std::vector<Line> lines;
  nlohmann::ordered_json details = nlohmann::ordered_json::object();  // the programs' own figures
  bool is_interrupted = false;

  std::int64_t count(State state) const;
  /// Returns 0 if every measured target is met and no program failed, else 1.
  int exit_code() const;
};

/// Returns "met", "not met", "measured", or "not measured, because …".
std::string state_of(const Line& line);

/// Returns "2 × NVIDIA H200, driver 580.65.06, CUDA 13.0 (driver: 13.0), NCCL 2.28.9".
std::string in_words(const Machine& machine);

/// Returns "12 met, 1 not met, 3 not measured", and whether the run was interrupted.
std::string summary_of(const Report& report);

/// Returns a line of the text, with its end.
std::string text_of(const Line& line, bool colour);

/// Returns a table for docs/gpu_measured.md, below a line with date, GPUs and versions.
std::string to_markdown(const Report& report);

/// Returns {version, date, machine{}, interrupted, met, not_met, not_measured, lines[]{section,
/// what, value, number, target, state, because}, details{}}. Unknown values are null.
nlohmann::ordered_json to_json(const Report& report);

}  // namespace rankbox::cli
