// Ends the process when a call that no deadline can end takes too long.
//
// ncclCommAbort and ncclCommDestroy block the host. They wait for NCCL's own threads, and for GPUs
// whose memory they free. If one of those never answers, the program would hang silently after its
// failure. The GPU cannot be freed then, but the cause can be printed. The same happens to a rank
// that fails while another rank of its process computes for that long without a call.
//
//   const Watchdog watchdog(60, "rank 1: ncclCommAbort", [&] { return details(); });  // the call
//
// Cost: a thread, for the time of the call. Thread safety: one thread makes and destroys it.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace rankbox::gpu {

class Watchdog {
 public:
  /// After this many seconds prints the call and details() to standard error, and ends the process
  /// with exit code 1. Calls details() on another thread. Without a thread for it, does nothing.
  Watchdog(double seconds, std::string call, std::function<std::string()> details);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void watch(const std::stop_token& stop, double seconds);

  const std::string call_;
  const std::function<std::string()> details_;
  std::mutex lock_;
  std::condition_variable_any ended_;
  std::optional<std::jthread> thread_;  // its destructor stops it
};

}  // namespace rankbox::gpu
