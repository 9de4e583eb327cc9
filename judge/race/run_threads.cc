#include "judge/race/run_threads.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include "comm/errors.h"

namespace rankbox {
namespace {

/// Returns the cores that this process may run on.
std::vector<int> usable_cores() {
  std::vector<int> cores;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &allowed)) cores.push_back(core);
  }
  return cores;
}

/// Best effort: on failure, the operating system chooses the core.
void move_this_thread_to(int core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(core), &one);
  pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
}

}  // namespace

double run_threads(int threads, const std::function<void(int thread)>& work) {
  const std::vector<int> cores = usable_cores();
  const bool cores_suffice = static_cast<std::size_t>(threads) <= cores.size();
  std::atomic<int> missing = threads;
  std::atomic<bool> cancelled = false;
  std::chrono::steady_clock::time_point begin;
  const auto body = [&](int thread) {
    if (!cores.empty()) move_this_thread_to(cores[static_cast<std::size_t>(thread) % cores.size()]);
    // Spins rather than sleeps: a sleeping thread would start late. Yields only if there are more
    // threads than cores.
    if (missing.fetch_sub(1) == 1) begin = std::chrono::steady_clock::now();
    while (missing.load() > 0 && !cancelled.load()) {
      if (!cores_suffice) std::this_thread::yield();
    }
    if (!cancelled.load()) work(thread);
  };

  std::vector<std::jthread> started;  // joined on every exit path
  started.reserve(static_cast<std::size_t>(threads));
  try {
    for (int i = 0; i < threads; ++i) started.emplace_back(body, i);
  } catch (const std::system_error& error) {
    cancelled = true;
    throw InvalidArgument(
        fmt::format("this machine cannot start {} threads: it started {}, then: {}; ask for fewer",
                    threads, started.size(), error.code().message()));
  } catch (...) {  // for example std::bad_alloc
    cancelled = true;
    throw;
  }
  for (std::jthread& thread : started) thread.join();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void spin(std::int64_t nanoseconds) {
  if (nanoseconds == 0) return;  // without a look at the clock, which takes 20
  const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(nanoseconds);
  while (std::chrono::steady_clock::now() < end) {
  }
}

}  // namespace rankbox
