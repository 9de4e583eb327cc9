// Rank 0's reports to the user, during training and at its end.
//
// On a terminal: one line that is overwritten, a bar with loss and samples/s. Elsewhere, and with
// NO_COLOR: a plain line every few steps. After each epoch, a line that remains.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/train/record.h"
#include "training/run/plan.h"
#include "training/run/session.h"
#include "training/run/task.h"

namespace rankbox::train {

/// The capabilities of standard output.
struct Screen {
  bool live = false;   // lines may be overwritten, in colour
  bool ascii = false;  // ASCII characters only
  int columns = 80;
};
Screen this_screen();

/// Returns "epoch 2/3  [━━━━━━──────] 120/312  loss 0.3412  21345 samples/s", at most as wide as
/// the screen.
std::string bar_line(const Plan& plan, const Position& now, std::int64_t steps,
                     const Record& record, const Screen& screen);

class Report {
 public:
  Report(const Plan& plan, const Task& task, const Record& record, const Screen& screen,
         bool is_quiet);

  void on_start();
  void on_step(const Position& now, std::int64_t steps, const Metrics& batch);
  /// @param is_best see Listener::on_evaluation
  void on_evaluation(const Position& now, const Evaluation& test, bool is_best);
  void on_epoch(const EpochRecord& epoch);

  /// Prints the result and the loss curve.
  /// @param signal that ended the run; 0: none
  void finish(const Outcome& outcome, int signal);

 private:
  void print(const std::string& text);

  const Plan& plan_;
  const Task& task_;
  const Record& record_;
  Screen screen_;
  bool is_quiet_;
  bool is_best_ = false;  // the latest evaluation
  bool has_bar_ = false;  // an unfinished line
  std::chrono::steady_clock::time_point drawn_{};
};

/// Returns the object of --json, on one line.
std::string to_json(const Plan& plan, const Task& task, const Record& record,
                    const Outcome& outcome);

}  // namespace rankbox::train
