// A spin lock: one exchange to lock, one store to unlock.
#pragma once

#include <atomic>
#include <thread>

#include "comm/thread_annotations.h"
#include "sim/executor/cpu_relax.h"

namespace rankbox::sim {

/// Guards critical sections of some nanoseconds (linking an operation into a queue), where a mutex
/// would cost more than the work. Never held across a long copy or a wait. Held across an
/// allocation only where a group's first collectives need one, or a run fails. Use with Lock.
class CAPABILITY("spin lock") SpinLock {
 public:
  void lock() ACQUIRE() {
    while (locked_.exchange(true, std::memory_order_acquire)) {
      // Only reads while it is locked: an exchange would take the cache line away from the holder.
      for (int spins = 0; locked_.load(std::memory_order_relaxed); ++spins) {
        if (spins < 64) {
          cpu_relax();
        } else {
          std::this_thread::yield();  // the holder may have been descheduled
        }
      }
    }
  }
  void unlock() RELEASE() { locked_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> locked_{false};
};

}  // namespace rankbox::sim
