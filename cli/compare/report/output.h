// The output of a comparison: contest by contest, then the winners.
#pragma once

#include <string>
#include <vector>

#include "cli/compare/measure/devices.h"
#include "cli/compare/plan/plan.h"

namespace rankbox::cli {

/// Prints rows as they arrive, and keeps them for the report. Thread safety: used by one thread at
/// a time.
class Output {
 public:
  /// @param prints false: prints nothing
  Output(const Plan& plan, bool prints) : plan_(plan), prints_(prints) {}

  /// Call before the rows of a world. Prints the legend the first time.
  /// @param backend see format_header()
  void start(const std::vector<std::string>& backend, const std::vector<Device>& devices);
  /// Adds one contest.
  void add(const std::vector<Row>& contest);
  /// Call after the last row.
  void finish();

  const std::vector<Device>& devices() const { return devices_; }
  const std::vector<Row>& rows() const { return rows_; }

 private:
  Plan plan_;
  const bool prints_;
  bool has_started_ = false;
  std::vector<Device> devices_;
  std::vector<Row> rows_;
};

/// Returns one line on why the exit code is 1 although all rows were measured; "" if it is 0.
std::string complaint_about(const std::vector<Row>& rows);

/// The progress line on stderr, if that is a terminal.
class Progress {
 public:
  Progress();
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Updates the line at a readable rate.
  void show(const Row& row);
  void clear();

 private:
  const bool on_terminal_;
  double shown_at_ = 0;
  bool shown_ = false;
};

}  // namespace rankbox::cli
