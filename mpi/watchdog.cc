#include "mpi/watchdog.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "mpi/environment.h"

namespace rankbox::mpi {

Watchdog::Watchdog(double seconds) : seconds_(seconds), thread_([this] { run(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard guard(lock_);
    ends_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Watchdog::run() {
  using Clock = std::chrono::steady_clock;
  const auto period = std::chrono::duration<double>(std::clamp(seconds_ / 10, 1e-3, 0.5));
  std::uint64_t seen = 0;
  Clock::time_point since = Clock::now();
  std::unique_lock guard(lock_);
  while (!wake_.wait_for(guard, period, [this] { return ends_; })) {
    const std::uint64_t turn = turn_.load(std::memory_order_acquire);
    if (turn != seen || turn % 2 == 0) since = Clock::now();
    seen = turn;
    const double waited = std::chrono::duration<double>(Clock::now() - since).count();
    if (waited < seconds_) continue;
    fmt::print(
        stderr,
        "rankbox: process {} waited {:.3g} s in {} at {}:{}; native collectives that are not "
        "checked (RunOptions::check_collectives) cannot be called off: ending all processes\n",
        environment().rank, waited, operation_.load(), file_.load(), line_.load());
    std::fflush(nullptr);
    _exit(1);  // the main thread is inside of MPI, and so is everything that an orderly end needs
  }
}

}  // namespace rankbox::mpi
