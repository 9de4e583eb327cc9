// What runs the code of a thread under control: a fiber, or a thread of the system.
//
// A carrier runs until it gives control to another one, and goes on when it gets control again. All
// fibers of an execution run on the thread that explores. Each has its own errno, its own
// exceptions in flight, and the given words.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include <pthread.h>
#include <ucontext.h>

namespace rankbox::interleave {

class Carrier {
 public:
  Carrier() = default;
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;
  ~Carrier();

  /// Prepares the entry, which runs at the first switch to it, and must end with a switch.
  /// Returns an error number.
  int start_fiber(void (*entry)(void*), void* argument);
  int start_thread(void (*entry)(void*), void* argument, const pthread_attr_t* attributes);

  /// Gives control to the other one. Returns when it comes back; for good if `is_last`.
  void switch_to(Carrier& other, const std::vector<std::uint64_t*>& locals, bool is_last);

  /// Of a thread of the system.
  pthread_t handle() const { return handle_; }
  bool is_thread() const { return is_thread_; }

 private:
  static void begin_fiber(unsigned high, unsigned low);
  static void* begin_thread(void* carrier);
  void wait();

  void (*entry_)(void*) = nullptr;
  void* argument_ = nullptr;
  bool is_thread_ = false;
  pthread_t handle_ = {};
  std::atomic<std::uint32_t> baton_ = 0;
  ucontext_t context_ = {};
  void* stack_ = nullptr;
  // Saved while another fiber runs.
  int error_ = 0;
  void* exceptions_[2] = {};
  std::vector<std::uint64_t> words_;
};

}  // namespace rankbox::interleave
