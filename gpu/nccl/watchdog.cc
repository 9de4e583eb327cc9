#include "gpu/nccl/watchdog.h"

#include <chrono>
#include <cstdio>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace rankbox::gpu {

Watchdog::Watchdog(double seconds, std::string call, std::function<std::string()> details)
    : call_(std::move(call)), details_(std::move(details)) {
  try {
    thread_.emplace([this, seconds](const std::stop_token& stop) { watch(stop, seconds); });
  } catch (const std::system_error&) {
    // Without a thread the call is not watched.
  }
}

void Watchdog::watch(const std::stop_token& stop, double seconds) {
  std::unique_lock lock(lock_);
  ended_.wait_for(lock, stop, std::chrono::duration<double>(seconds), [] { return false; });
  if (stop.stop_requested()) return;
  fmt::print(stderr, "rankbox: {} has not returned for {:.3g} s: the process ends\n{}\n", call_,
             seconds, details_());
  std::fflush(stdout);
  _exit(1);
}

}  // namespace rankbox::gpu
