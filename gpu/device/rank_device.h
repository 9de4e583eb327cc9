// A rank's share of a GPU: its streams and its memory.
//
// Every rank has one, also when several share a GPU. stream() is where arithmetic and blocking
// communication go, side_stream() is for operations that are waited for later; neither waits for
// the other, nor for other ranks', unless an event says so:
//
//   RankDevice gpu(rank, device);
//   void* data = gpu.allocate(bytes);
//   launch_fill(data, count, DType::kFloat32, 1.0, gpu.stream());
//   gpu.order(gpu.stream(), gpu.side_stream());    // what comes on the side sees the fill
//   ...
//   gpu.synchronize(30, {.op = "all_reduce"});     // or TimedOut
//
// Thread safety: belongs to the thread that made it, but for the handles, which others may wait on.
// Errors: CudaError, OutOfMemory, TimedOut.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include <cuda_runtime_api.h>

#include "gpu/device/check.h"
#include "gpu/device/device_memory.h"

namespace rankbox::gpu {

class RankDevice {
 public:
  /// Makes `device` the current one of this thread, and this current_rank_device().
  RankDevice(int rank, int device);
  /// Waits for the streams, 5 s at most. What still runs then (a collective whose peer is gone)
  /// cannot be stopped from here: its streams and all memory are left to the process's end, because
  /// freeing them would wait for good.
  ~RankDevice();
  RankDevice(const RankDevice&) = delete;
  RankDevice& operator=(const RankDevice&) = delete;

  int rank() const { return rank_; }
  int device() const { return device_; }
  cudaStream_t stream() const { return stream_; }
  cudaStream_t side_stream() const { return side_stream_; }

  // ---- Memory: see device_memory.h ----

  /// Aligned to 256 bytes, uninitialised; null for 0 bytes. Does not block unless cudaMalloc has to
  /// be called. Throws OutOfMemory.
  void* allocate(std::int64_t bytes) { return memory_.allocate(bytes); }
  /// REQUIRES: whatever uses the block was put on stream(), or stream() waits for it.
  void release(void* block) noexcept { memory_.release(block); }
  DeviceMemory& memory() { return memory_; }

  /// What is put on `later` from now on runs after all that is on `earlier` now. Does not block.
  void order(cudaStream_t earlier, cudaStream_t later);

  // ---- Waiting ----

  /// Blocks until stream() has done everything. Throws TimedOut after so many seconds,
  /// CudaError when something on it failed; or what the waiter throws, if there is one.
  void synchronize(double deadline_seconds, const Doing& doing = {}) {
    if (waiter_) return waiter_(stream_, doing);
    wait_for_stream(stream_, deadline_seconds, doing);
  }

  /// Waits in place of synchronize(): a communicator's, for one, which knows what else ends the
  /// wait, and has a deadline of its own. Null: none.
  using Waiter = std::function<void(cudaStream_t stream, const Doing& doing)>;
  void set_waiter(Waiter waiter) { waiter_ = std::move(waiter); }

  static void wait_for_stream(cudaStream_t stream, double deadline_seconds,
                              const Doing& doing = {});

 private:
  int rank_;
  int device_;
  cudaStream_t stream_ = nullptr;
  cudaStream_t side_stream_ = nullptr;
  cudaEvent_t event_ = nullptr;  // of order()
  DeviceMemory memory_;
  Waiter waiter_;
};

/// That of the rank that runs on this thread; null outside of any rank.
RankDevice*& current_rank_device();

}  // namespace rankbox::gpu
