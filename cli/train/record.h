// Rank 0's record of a training run, for the reports.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "training/run/evaluate.h"
#include "training/run/plan.h"
#include "training/run/position.h"

namespace rankbox::train {

struct EpochRecord {
  std::int64_t epoch = 0;  // from 1
  std::int64_t steps = 0;  // of this run in this epoch
  double train_loss = 0;   // mean over those steps
  Evaluation test;
  double train_seconds = 0;  // without evaluation and saving
  double samples_per_second = 0;
};

class Record {
 public:
  explicit Record(const Plan& plan)
      : samples_(static_cast<double>(plan.batch) * static_cast<double>(plan.accumulate)) {}

  void start(const Position& from, const std::vector<std::string>& notes);
  void add_step(const Position& now, const Metrics& batch);
  const EpochRecord& add_epoch(const Position& now, const Evaluation& test);
  /// Restarts the training clock: evaluation and saving do not count.
  void go_on();

  const Position& from() const { return from_; }
  const std::vector<std::string>& notes() const { return notes_; }
  const std::vector<double>& losses() const { return losses_; }  // of each step of this run
  const std::vector<EpochRecord>& epochs() const { return epochs_; }

  /// Returns the mean over this run's part of the current epoch.
  double mean_loss() const;
  double samples_per_second() const;
  /// Returns seconds since start(), including evaluation and saving.
  double seconds() const;
  /// Returns seconds of training only.
  double train_seconds() const { return train_seconds_; }
  double overall_samples_per_second() const;
  /// Returns those of the latest step.
  double step_samples_per_second() const;

 private:
  using Clock = std::chrono::steady_clock;

  double samples_;  // of a step; a plan that is yet to be checked may have any number
  Position from_;
  std::vector<std::string> notes_;
  std::vector<double> losses_;
  std::vector<EpochRecord> epochs_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
  double train_seconds_ = 0;
  double step_seconds_ = 0;
  // Of the current epoch.
  double epoch_seconds_ = 0;
  double epoch_loss_ = 0;
  std::int64_t epoch_steps_ = 0;
};

}  // namespace rankbox::train
