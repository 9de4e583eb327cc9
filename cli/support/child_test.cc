// The limit on a program's time, where others have the cores.
#include "cli/support/child.h"

#include <array>
#include <chrono>
#include <csignal>

#include <doctest/doctest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rankbox::cli {
namespace {

using Seconds = std::chrono::duration<double>;

/// Keeps this process and what it starts on one core, together with busy ones, until the end of the
/// scope.
class BusyCore {
 public:
  BusyCore() {
    sched_getaffinity(0, sizeof(before_), &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    int core = 0;
    while (!CPU_ISSET(core, &before_)) ++core;
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof(one), &one);
    for (pid_t& each : others_) {
      each = fork();
      if (each == 0) {
        while (true) getppid();
      }
    }
  }
  ~BusyCore() {
    for (const pid_t each : others_) kill(each, SIGKILL);
    for (const pid_t each : others_) waitpid(each, nullptr, 0);
    sched_setaffinity(0, sizeof(before_), &before_);
  }
  BusyCore(const BusyCore&) = delete;
  BusyCore& operator=(const BusyCore&) = delete;

 private:
  cpu_set_t before_;
  std::array<pid_t, 2> others_;
};

/// Returns the processor time of children that have ended.
Seconds cpu_time_of_children() {
  rusage use = {};
  getrusage(RUSAGE_CHILDREN, &use);
  const auto in_seconds = [](const timeval& time) {
    return Seconds(static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6);
  };
  return in_seconds(use.ru_utime) + in_seconds(use.ru_stime);
}

ChildResult run_shell(const std::string& script, double seconds) {
  ChildOptions options;
  options.command = {"sh", "-c", script};
  options.seconds = seconds;
  return run_child(options);
}

}  // namespace

TEST_CASE("a program that computes on a busy core gets the processor time of its limit") {
  const BusyCore busy;
  constexpr double kLimit = 1;
  const auto started = std::chrono::steady_clock::now();
  const Seconds before = cpu_time_of_children();
  const ChildResult result = run_shell("while :; do :; done", kLimit);
  const Seconds used = cpu_time_of_children() - before;
  const Seconds taken = std::chrono::steady_clock::now() - started;
  CHECK(result.timed_out);
  // A rest of less than 0.1 s is not granted.
  const bool had_its_time = used.count() >= 0.8 * kLimit;
  CHECK_MESSAGE((had_its_time || taken.count() >= kMostPatience * kLimit - 0.1), used.count(),
                " s");
}

TEST_CASE("a program that sleeps ends with its limit, and one that ends in time has none") {
  const ChildResult slept = run_shell("sleep 1000", 0.5);
  CHECK(slept.timed_out);
  CHECK(slept.seconds >= 0.5);
  CHECK(run_shell("true", 100).seconds == 0);
  CHECK_FALSE(run_shell("sleep 0.1", 100).timed_out);
}

}  // namespace rankbox::cli
