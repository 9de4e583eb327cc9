// --log: a file with one JSON object per step, a line each.
//
//   {"step":3,"epoch":1,"loss":2.1,"learning_rate":0.05,"seconds":0.4,"samples_per_second":3200.0}
//   {"step":4, … ,"test":{"loss":1.9,"accuracy":0.5,"f1":0.48,"samples":2000},"best":true}
//
// Steps and epochs count from 1. The loss is the mean over the step's samples, on all ranks;
// seconds are those since the start, evaluation and saving included; samples/s are those of this
// step alone. With --clip-norm there is "grad_norm", before clipping. "test" and "best" are there
// after an evaluation. A step whose evaluation was killed may have these alone, after --resume.
// Only rank 0 writes.
#pragma once

#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include "cli/train/record.h"
#include "training/run/loop.h"
#include "training/run/plan.h"

namespace rankbox::train {

class StepLog {
 public:
  StepLog(std::string path, const Plan& plan, const Record& record);
  StepLog(const StepLog&) = delete;
  StepLog& operator=(const StepLog&) = delete;
  ~StepLog() { flush(); }

  /// Opens the file: a new one, or with --resume the old one without the steps after `from`, which
  /// are taken again. The line of `from` may still get its evaluation. Throws InvalidArgument if it
  /// cannot be written.
  void start(const Position& from);
  /// @param steps in an epoch
  void on_step(const Position& now, std::int64_t steps, const StepMetrics& batch);
  void on_evaluation(const Position& now, const Evaluation& test, bool is_best);

 private:
  /// Writes the line of the latest step.
  void flush();
  void check_written() const;

  std::string path_;
  const Plan& plan_;
  const Record& record_;
  std::ofstream file_;
  nlohmann::ordered_json line_;
  // With --resume: the line of the last step, which the earlier run took but did not evaluate.
  nlohmann::ordered_json last_;
  std::ofstream::pos_type begin_of_last_ = 0;
};

}  // namespace rankbox::train
