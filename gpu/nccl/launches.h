// What a rank has put on its streams lately, an event behind each launch.
//
// The events tell what has finished, and bound what is queued: before an event is used again, the
// launch it stood for must have finished. CUDA itself would block the host near 1,000 queued
// launches, where no deadline reaches it.
//
// Cost: one cudaEventRecord and at most one cudaEventQuery a launch. Thread safety: belongs to the
// rank's thread. Errors: CudaError.
#pragma once

#include <array>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "gpu/device/check.h"

namespace rankbox::gpu {

class NcclLaunches {
 public:
  static constexpr std::uint64_t kSize = 64;

  /// Of the thread's current device.
  NcclLaunches();
  ~NcclLaunches();
  NcclLaunches(const NcclLaunches&) = delete;
  NcclLaunches& operator=(const NcclLaunches&) = delete;

  /// Whether there is an event for one more launch.
  bool has_room() { return latest_ < kSize || is_finished(latest_ + 1 - kSize); }
  /// The launch is all that the stream holds now. Returns its number, from 1. REQUIRES: has_room().
  std::uint64_t add(cudaStream_t stream, const Doing& doing);

  /// What is put on the stream from now on comes after the launch. Does not block.
  void order(std::uint64_t launch, cudaStream_t stream, const Doing& doing);

  bool is_finished(std::uint64_t launch);
  /// Launches that are known to have finished: grows as long as the device makes progress.
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
