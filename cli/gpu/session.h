// Measures the lines of a report by running programs, within a section's time.
//
// Thread safety: none. Throws Interrupted while an InterruptGuard lives, besides what is stated.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "cli/gpu/report.h"

namespace rankbox::cli {

/// Thrown where there is no value. Caught by Session::measure.
struct NotMeasured {
  std::string because;      // in words that complete "not measured, because"
  bool is_failure = false;  // a program failed; else it refused, is missing, or has no time left
};

struct Command {
  std::string program = {};  // its name among the programs
  std::vector<std::string> arguments = {};
  std::vector<std::string> environment = {};  // NAME=VALUE
  std::vector<std::string> under = {};        // a program that starts it, with arguments
  int processes = 1;                          // more: with the variables of torchrun
  double seconds = std::numeric_limits<double>::infinity();  // within the section's
  bool reports_failures = false;  // with exit code 1 it prints its figures as well
};

struct Ended {
  int code = 0;  // 128 + signal if one ended it
  bool timed_out = false;
  std::string output;  // its standard output
  std::string errors;  // its standard error

  /// Returns the last 2,000 bytes of both, for the details.
  std::string messages() const;
};

/// The figures of a program that ran, or why there are none.
struct Figures {
  nlohmann::ordered_json json;
  std::optional<NotMeasured> missing;

  const nlohmann::ordered_json& get() const { return missing ? throw NotMeasured(*missing) : json; }
};

struct Value {
  std::string text;
  std::optional<double> number = {};
  std::optional<bool> is_met = {};  // empty: there is no target
};

class Session {
 public:
  /// @param folders where the programs are: the first one that has it
  /// @param on_line called for each line
  /// @param on_tick called 20 times a second while a program runs
  Session(Report& report, std::vector<std::string> folders,
          std::function<void(const Line&)> on_line, std::function<void()> on_tick);

  /// Starts the time of a section.
  void begin(const std::string& section, double seconds);

  /// Runs a program. Throws NotMeasured if it does not exist or the section's time runs out; its
  /// own limit and its failure are in the result.
  Ended run(const Command& command);

  /// Runs a program that prints JSON, and keeps that under this name in the report's details.
  Figures figures(const std::string& name, const Command& command);

  /// Adds a line: the value, or NotMeasured's reason. Figures that lack a field are a failure.
  void measure(const std::string& what, const std::string& target,
               const std::function<Value()>& value);

  /// Returns the names of the programs in a subfolder, "contract/split_test", sorted. Throws
  /// NotMeasured if there are none.
  std::vector<std::string> programs_in(const std::string& subfolder) const;

  Report& report() { return report_; }
  const std::string& section() const { return section_; }
  double seconds() const { return seconds_; }  // of the section
  int gpus() const { return static_cast<int>(report_.machine.gpus.size()); }

  /// The bandwidth of a large device copy, bytes read and written, once it is measured.
  std::optional<double> copy_bytes_per_second;

 private:
  /// Throws NotMeasured if no folder has it.
  std::string path_of(const std::string& program) const;

  Report& report_;
  std::vector<std::string> folders_;
  std::function<void(const Line&)> on_line_;
  std::function<void()> on_tick_;
  std::string section_;
  double seconds_ = 0;
  double deadline_ = 0;  // as now()
};

}  // namespace rankbox::cli
