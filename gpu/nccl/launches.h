// A rank's launches in flight, with an event after each.
//
// The events show what has finished, and bound the queue: a rank that has kMost launches in flight
// waits for the oldest. CUDA itself would block the host near 1,000 queued launches, and no
// deadline ends that wait. Deferred messages, for which the oldest may wait, are launched beyond
// this limit.
//
// Cost: one cudaEventRecord per launch, and while kMost are in flight one or two cudaEventQuery.
// Thread safety: only the rank's thread may use it. Errors: CudaError.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include <cuda_runtime_api.h>

#include "gpu/device/check.h"

namespace rankbox::gpu {

class NcclLaunches {
 public:
  static constexpr std::size_t kMost = 64;

  /// Creates events for kMost launches on the thread's current device.
  NcclLaunches();
  ~NcclLaunches();
  NcclLaunches(const NcclLaunches&) = delete;
  NcclLaunches& operator=(const NcclLaunches&) = delete;

  /// Returns whether fewer than kMost launches are in flight.
  bool has_room();
  /// Records all present work of the stream as a launch. Returns its number, from 1.
  std::uint64_t add(cudaStream_t stream, const Doing& doing);

  /// Orders later work on the stream after the launch. Does not block.
  void order(std::uint64_t launch, cudaStream_t stream, const Doing& doing);

  bool is_finished(std::uint64_t launch);
  /// Forgets all launches. REQUIRES: they have finished, or the rank ends after a failure.
  void clear();
  /// Returns the number of launches known to have finished; it grows while the device makes
  /// progress.
  std::uint64_t finished_count();

 private:
  struct Entry {
    cudaEvent_t event = nullptr;
    bool finished = false;
  };
  /// Returns null for a launch that has finished, and has no event any more.
  Entry* find(std::uint64_t launch) {
    return launch < first_ ? nullptr : &in_flight_[launch - first_];
  }
  bool query(Entry& entry);
  cudaEvent_t take_event(const Doing& doing);
  void destroy();

  std::deque<Entry> in_flight_;      // by number, from first_; later ones may have finished
  std::vector<cudaEvent_t> events_;  // free
  std::uint64_t first_ = 1;
  std::uint64_t finished_ = 0;
};

}  // namespace rankbox::gpu
