// An emulated stream: a thread that works off a queue.
//
// The thread lives until its stream was destroyed and all work is done, or until the process ends:
// then whatever waits gives up (exiting()), and what is still queued is dropped.
//
// Thread safety: everything may be called by any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include <cuda_runtime_api.h>

namespace rankbox::gpu::emulation {

/// No wait of a host thread lasts longer, so that a test which would hang fails.
inline constexpr std::chrono::seconds kLongestWait{20};

class Stream {
 public:
  static std::shared_ptr<Stream> start(int device);

  int device() const { return device_; }

  /// @param always also when the device is broken: what others wait for must still happen
  void enqueue(std::function<void()> work, bool always = false);

  /// Is everything done that was enqueued so far?
  bool idle() const;
  /// Blocks until it is; false after kLongestWait.
  bool wait_idle() const;
  /// Lets the thread end after what is enqueued.
  void close();

  void wake();  // to look at exiting()

 private:
  struct Item {
    std::function<void()> work;
    bool always;
  };

  Stream(int device, std::uint64_t number) : device_(device), number_(number) {}
  void run();
  void pause_at_random(std::uint64_t& state) const;

  const int device_;
  const std::uint64_t number_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::deque<Item> queue_;
  std::int64_t enqueued_ = 0;
  std::int64_t completed_ = 0;
  bool closed_ = false;
};

/// The stream of a handle; the current device's null stream for a null handle; null for a handle
/// that is none (any more).
std::shared_ptr<Stream> find_stream(cudaStream_t handle);

/// Waits for all streams of a device, kLongestWait at most: false then.
bool wait_for_device(int device);

}  // namespace rankbox::gpu::emulation
