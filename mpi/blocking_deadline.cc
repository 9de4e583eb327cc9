#include "mpi/blocking_deadline.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "comm/errors.h"
#include "comm/post_mortem.h"
#include "comm/run_failure.h"

namespace rankbox::mpi {

// The deadlines of the ranks are staggered, so that the first one ends the others before they
// report too.
BlockingDeadline::BlockingDeadline(const FlightRecorder& recorder, double seconds, int world_size)
    : recorder_(recorder),
      seconds_(seconds + 2.0 * std::clamp(recorder.rank(), 0, 5)),
      world_size_(world_size),
      thread_([this] { run(); }) {}

BlockingDeadline::~BlockingDeadline() {
  {
    const std::lock_guard guard(mutex_);
    ends_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void BlockingDeadline::run() {
  const auto period = std::chrono::duration<double>(std::clamp(seconds_ / 10, 0.01, 0.5));
  std::unique_lock guard(mutex_);
  while (!wake_.wait_for(guard, period, [this] { return ends_; })) end_if_late();
}

void BlockingDeadline::end_if_late() const {
  const std::uint64_t recorded = recorder_.recorded();
  if (recorded == 0 || recorder_.state(recorded - 1) != FlightState::kStarted) return;
  const FlightLog log = recorder_.log();
  if (log.flights.empty()) return;
  const LoggedFlight& last = log.flights.back();
  const bool blocks = last.call.kind == FlightKind::kCollective && !last.call.async &&
                      !last.call.waits && last.index + 1 == recorder_.recorded();
  if (!blocks || last.seconds < seconds_) return;
  const TimedOut error(
      fmt::format("rank {} waited {:.3g} s in {} at {}:{}; what the other ranks did is not known, "
                  "because the call blocks inside MPI",
                  log.rank, last.seconds, last.op, last.file, last.line),
      {log.rank, last.op, -1, last.file, last.line});
  const int exit_code = handle_failure(
      {std::make_exception_ptr(error), in_words(log) + sandbox_hint(world_size_) + "\n"});
  std::fflush(nullptr);
  _exit(exit_code);  // an orderly exit needs MPI, and the rank's thread is inside it
}

}  // namespace rankbox::mpi
