// Ends a process that waits in MPI for too long.
//
// Where the ranks' calls are not compared before a native collective starts, MPI is called at once,
// and blocks: nobody else can end that wait. A thread of its own keeps the time. When it runs out, the
// process says where it was, and exits, upon which the launcher ends all others.
//
// Costs two stores a call, which the other thread looks at a few times a second.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "comm/call_checks.h"

namespace rankbox::mpi {

class Watchdog {
 public:
  explicit Watchdog(double seconds);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// From its making to its end, the process is in that call.
  class Watch {
   public:
    Watch(Watchdog& watchdog, const Caller& caller) : watchdog_(watchdog) {
      watchdog_.operation_.store(caller.operation, std::memory_order_relaxed);
      watchdog_.file_.store(caller.place.file_name(), std::memory_order_relaxed);
      watchdog_.line_.store(caller.place.line(), std::memory_order_relaxed);
      watchdog_.turn_.fetch_add(1, std::memory_order_release);
    }
    ~Watch() { watchdog_.turn_.fetch_add(1, std::memory_order_release); }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    Watchdog& watchdog_;
  };

 private:
  void run();

  const double seconds_;
  std::atomic<std::uint64_t> turn_{0};  // odd: in a call
  std::atomic<const char*> operation_{""};
  std::atomic<const char*> file_{""};
  std::atomic<std::uint32_t> line_{0};
  std::mutex lock_;
  std::condition_variable wake_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace rankbox::mpi
