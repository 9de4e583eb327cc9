// An emulated stream: a thread that executes a queue.
//
// The thread lives until its stream is destroyed and all work is done, or until the process ends.
// Then all waits return (exiting()), and queued work is dropped.
//
// A GPU has few hardware queues (set_hardware_queues). Streams that share one execute what was
// enqueued on either in the order of the calls, so one that waits holds up the others.
//
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include <cuda_runtime_api.h>

namespace rankbox::gpu::emulation {

/// The limit of every host thread's wait, so that a test fails instead of hanging.
inline constexpr std::chrono::seconds kLongestWait{20};

/// The number of queued calls beyond which a stream blocks the host, as CUDA does.
inline constexpr std::size_t kLongestQueue = 1024;

/// How many a device has, as a real GPU at most.
inline constexpr int kHardwareQueues = 32;

/// The order in which streams that share a hardware queue take their turns.
class HardwareQueue {
 public:
  std::uint64_t take_number() { return next_++; }
  /// Returns false when the process ends.
  bool wait_for_turn(std::uint64_t number);
  void end_turn();

 private:
  std::mutex mutex_;  // guards current_
  std::condition_variable changed_;
  std::uint64_t current_ = 0;
  std::atomic<std::uint64_t> next_{0};
};

class Stream {
 public:
  static std::shared_ptr<Stream> start(int device);

  int device() const { return device_; }

  /// Blocks while kLongestQueue others are queued.
  /// @param always run it even if the device is broken: others wait for it
  void enqueue(std::function<void()> work, bool always = false);

  /// Returns whether all work enqueued so far is done.
  bool idle() const;
  /// Blocks until it is idle. Returns false after kLongestWait.
  bool wait_idle() const;
  /// Ends the thread after the enqueued work.
  void close();

  void wake();  // makes it check exiting()

 private:
  struct Item {
    std::function<void()> work;
    bool always;
    std::uint64_t turn;  // in the hardware queue
  };

  Stream(int device, std::uint64_t number, std::shared_ptr<HardwareQueue> hardware)
      : device_(device), number_(number), hardware_(std::move(hardware)) {}
  void run();
  void pause_at_random(std::uint64_t& state) const;

  const int device_;
  const std::uint64_t number_;
  const std::shared_ptr<HardwareQueue> hardware_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::deque<Item> queue_;
  std::int64_t enqueued_ = 0;
  std::int64_t completed_ = 0;
  bool closed_ = false;
};

/// Returns the stream of a handle, or the current device's null stream for a null handle. Returns
/// null for an invalid handle.
std::shared_ptr<Stream> find_stream(cudaStream_t handle);

/// Waits for all streams of a device. Returns false after kLongestWait.
bool wait_for_device(int device);

}  // namespace rankbox::gpu::emulation
