// Rank 0's reports to the user, during training and at its end.
//
// On a terminal: one line that is written over, a bar with loss and samples/s. Elsewhere, and with
// NO_COLOR: a plain line every so many steps. After each epoch, a line that stays.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/train/record.h"
#include "train/plan.h"
#include "train/session.h"
#include "train/task.h"

namespace rankbox::train {

/// How standard output is written to.
struct Screen {
  bool live = false;   // lines may be written over, in colour
  bool ascii = false;  // ASCII characters only
  int columns = 80;
};
Screen this_screen();

/// "epoch 2/3  [━━━━━━──────] 120/312  loss 0.3412  21345 samples/s", as wide as the screen at
/// most.
std::string bar_line(const Plan& plan, const Position& now, std::int64_t batches,
                     const Record& record, const Screen& screen);

class Report {
 public:
  Report(const Plan& plan, const Task& task, const Record& record, const Screen& screen,
         bool is_quiet);

  void on_start();
  void on_step(const Position& now, std::int64_t batches, const Metrics& batch);
  void on_epoch(const EpochRecord& epoch);

  /// The result, and the curve of the loss.
  /// @param signal that ended the run; 0: none did
  void finish(const Outcome& outcome, int signal);

 private:
  void print(const std::string& text);

  const Plan& plan_;
  const Task& task_;
  const Record& record_;
  Screen screen_;
  bool is_quiet_;
  bool has_bar_ = false;  // an unfinished line
  std::chrono::steady_clock::time_point drawn_{};
};

/// The object of --json, on one line.
std::string to_json(const Plan& plan, const Task& task, const Record& record,
                    const Outcome& outcome);

}  // namespace rankbox::train
