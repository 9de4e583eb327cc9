// A rank's recent launches, with an event after each.
//
// The events show what has finished, and bound the queue: before an event is reused, its earlier
// launch must have finished. CUDA itself would block the host near 1,000 queued launches, and no
// deadline ends that wait.
//
// Cost: one cudaEventRecord and at most one cudaEventQuery per launch. Thread safety: only the
// rank's thread may use it. Errors: CudaError.
#pragma once

#include <array>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "gpu/device/check.h"

namespace rankbox::gpu {

class NcclLaunches {
 public:
  static constexpr std::uint64_t kSize = 64;

  /// Creates the events on the thread's current device.
  NcclLaunches();
  ~NcclLaunches();
  NcclLaunches(const NcclLaunches&) = delete;
  NcclLaunches& operator=(const NcclLaunches&) = delete;

  /// Returns whether an event is free for one more launch.
  bool has_room() { return latest_ < kSize || is_finished(latest_ + 1 - kSize); }
  /// Records all present work of the stream as a launch. Returns its number, from 1. REQUIRES:
  /// has_room().
  std::uint64_t add(cudaStream_t stream, const Doing& doing);

  /// Orders later work on the stream after the launch. Does not block.
  void order(std::uint64_t launch, cudaStream_t stream, const Doing& doing);

  bool is_finished(std::uint64_t launch);
  /// Returns the number of launches known to have finished; it grows while the device makes
  /// progress.
  std::uint64_t finished_count();

 private:
  struct Entry {
    cudaEvent_t event = nullptr;
    bool finished = true;
  };
  Entry& entry(std::uint64_t launch) { return entries_[launch % kSize]; }
  bool is_forgotten(std::uint64_t launch) const { return launch + kSize <= latest_; }
  void destroy();

  std::array<Entry, kSize> entries_;
  std::uint64_t latest_ = 0;
  std::uint64_t finished_ = 0;
};

}  // namespace rankbox::gpu
