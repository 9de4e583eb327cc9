// Prints rows as they come, in blocks, and keeps them for the report.
#pragma once

#include <vector>

#include "cli/perf/devices.h"
#include "cli/perf/jobs.h"

namespace rankbox::perf {

/// REQUIRES: rows come as jobs_of() orders them, and those of baselines are there from the start.
/// Thread safety: used by one thread at a time.
class Output {
 public:
  /// @param baselines their rows are put behind the native ones of their collective
  /// @param prints false: keeps everything to itself
  Output(const Plan& plan, std::vector<Row> baselines, bool prints);

  void start(const std::vector<Device>& devices);
  void add(const Row& row);
  /// After the last row. Prints the footer.
  void finish();

  const std::vector<Device>& devices() const { return devices_; }
  const std::vector<Row>& rows() const { return rows_; }

 private:
  void put(const Row& row);
  void put_baselines();

  const Plan& plan_;
  const bool prints_;
  std::vector<Row> baselines_;  // those not put yet
  std::vector<Device> devices_;
  std::vector<Row> rows_;
};

/// The line on stderr that says what is being measured, if that is a terminal.
class Progress {
 public:
  explicit Progress(std::size_t jobs);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::size_t number, const Job& job);
  void show(const std::string& what);
  void clear();

 private:
  const std::size_t jobs_;
  const bool on_terminal_;
  bool shown_ = false;
};

}  // namespace rankbox::perf
