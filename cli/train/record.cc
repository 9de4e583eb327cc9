#include "cli/train/record.h"

namespace rankbox::train {
namespace {

double rate(double samples, double seconds) { return seconds > 0 ? samples / seconds : 0; }

}  // namespace

void Record::start(const Position& from, const std::vector<std::string>& notes) {
  from_ = from;
  notes_ = notes;
  start_ = last_ = Clock::now();
}

void Record::add_step(const Position& /*now*/, const Metrics& batch) {
  const Clock::time_point now = Clock::now();
  const std::chrono::duration<double> took = now - last_;
  last_ = now;
  step_seconds_ = took.count();
  train_seconds_ += took.count();
  epoch_seconds_ += took.count();
  epoch_loss_ += batch.loss;
  ++epoch_steps_;
  losses_.push_back(batch.loss);
}

const EpochRecord& Record::add_epoch(const Position& now, const Evaluation& test) {
  epochs_.push_back(
      {now.epoch, epoch_steps_, mean_loss(), test, epoch_seconds_, samples_per_second()});
  epoch_seconds_ = epoch_loss_ = 0;
  epoch_steps_ = 0;
  return epochs_.back();
}

void Record::go_on() { last_ = Clock::now(); }

double Record::mean_loss() const {
  return epoch_steps_ == 0 ? 0 : epoch_loss_ / static_cast<double>(epoch_steps_);
}

double Record::samples_per_second() const {
  return rate(samples_ * static_cast<double>(epoch_steps_), epoch_seconds_);
}

double Record::step_samples_per_second() const { return rate(samples_, step_seconds_); }

double Record::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

double Record::overall_samples_per_second() const {
  return rate(samples_ * static_cast<double>(losses_.size()), train_seconds_);
}

}  // namespace rankbox::train
