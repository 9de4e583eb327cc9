// A rank's share of a GPU: its streams and its memory.
//
// Every rank has one, even when several share a GPU. stream() carries arithmetic and blocking
// communication, side_stream() the asynchronous operations (on NCCL, only collectives of all
// ranks). The two do not wait for each other, nor
// for other ranks' streams, unless an event orders them:
//
//   RankDevice gpu(rank, device);
//   void* data = gpu.allocate(bytes);
//   launch_fill(data, count, DType::kFloat32, 1.0, gpu.stream());
//   gpu.order(gpu.stream(), gpu.side_stream());    // what comes on the side sees the fill
//   ...
//   gpu.synchronize(30, {.op = "all_reduce"});     // or TimedOut
//
// Thread safety: only the thread that created it may use it, but other threads may wait on the
// handles. Errors: CudaError, OutOfMemory, TimedOut.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include "comm/reduce_op.h"
#include "comm/slice.h"
#include "gpu/device/check.h"
#include "gpu/device/device_memory.h"

namespace rankbox::gpu {

class RankDevice {
 public:
  /// Makes `device` this thread's current device, and this object current_rank_device().
  /// @param sharers the ranks that share the device's memory: each allocates an arena of
  /// arena_bytes(sharers) now. 0: none
  RankDevice(int rank, int device, int sharers = 0);
  /// Waits for the streams, 5 s at most. Work that still runs then (a collective whose peer is
  /// gone) cannot be stopped from here. Its streams and all memory stay allocated until the process
  /// ends, because freeing them would block forever.
  ~RankDevice();
  RankDevice(const RankDevice&) = delete;
  RankDevice& operator=(const RankDevice&) = delete;

  int rank() const { return rank_; }
  int device() const { return device_; }
  /// Call throttle() before adding work to it.
  cudaStream_t stream() const { return stream_; }
  cudaStream_t side_stream() const { return side_stream_; }

  // ---- Memory: see device_memory.h ----

  /// Returns uninitialised memory aligned to 256 bytes; null for 0 bytes. Blocks only if it does
  /// not fit into the arena and has to call cudaMalloc. Throws OutOfMemory.
  void* allocate(std::int64_t bytes) { return memory_.allocate(bytes); }
  /// REQUIRES: all work that uses the block is on stream(), or stream() waits for it.
  void release(void* block) noexcept { memory_.release(block); }
  DeviceMemory& memory() { return memory_; }

  /// Orders later work on `later` after all present work on `earlier`. Does not block.
  void order(cudaStream_t earlier, cudaStream_t later);

  // ---- To and from the host ----

  /// Blocks until the bytes are copied on stream(). They go through pinned memory, a MiB at a time:
  /// a copy of pageable memory waits in the driver, without a deadline, and may wait for kernels of
  /// NCCL that wait for this rank.
  /// REQUIRES: stream() has finished. Throws CudaError, and TimedOut after 30 s without progress.
  void copy_from_host(void* into, const void* from, std::int64_t bytes, const Doing& doing);
  void copy_to_host(void* into, const void* from, std::int64_t bytes, const Doing& doing);

  // ---- The queue of stream() ----

  /// To be called before a kernel or copy is enqueued on stream(). Blocks while the queue is full.
  void throttle(const Doing& doing) {
    if (throttle_) throttle_(doing);
  }

  /// Sets what throttle() calls; null: nothing. CUDA blocks the host when about 1,000 launches are
  /// queued, and no deadline ends that wait. A communicator, whose streams may wait for a rank that
  /// never sends, sets this bound.
  using Throttle = std::function<void(const Doing& doing)>;
  void set_throttle(Throttle throttle) { throttle_ = std::move(throttle); }

  // ---- Libraries ----

  /// What a library keeps for this rank, such as its handle, from its first call to the end of the
  /// rank. Null at first.
  using Library = std::unique_ptr<void, void (*)(void*)>;
  Library& library() { return library_; }

  // ---- Waiting ----

  /// Blocks until stream() has finished. Throws TimedOut after this many seconds, CudaError if work
  /// on it failed, or what the waiter throws, if there is one.
  void synchronize(double deadline_seconds, const Doing& doing = {}) {
    if (waiter_) return waiter_(stream_, doing);
    wait_for_stream(stream_, deadline_seconds, doing, spins_);
  }

  /// While calls are timed, waits never sleep: waking up would add to the time.
  void set_spins(bool spins) { spins_ = spins; }
  bool spins() const { return spins_; }

  /// Replaces the wait of synchronize(). A communicator sets one, because it knows other reasons to
  /// end the wait and has its own deadline. Null: none.
  using Waiter = std::function<void(cudaStream_t stream, const Doing& doing)>;
  void set_waiter(Waiter waiter) { waiter_ = std::move(waiter); }

  static void wait_for_stream(cudaStream_t stream, double deadline_seconds, const Doing& doing = {},
                              bool spins = false);

 private:
  struct FreePinned {
    void operator()(void* memory) const;
  };
  void copy_piece(void* into, const void* from, std::size_t bytes, const Doing& doing);

  int rank_;
  int device_;
  cudaStream_t stream_ = nullptr;
  cudaStream_t side_stream_ = nullptr;
  cudaEvent_t event_ = nullptr;  // of order()
  DeviceMemory memory_;
  std::unique_ptr<char, FreePinned> pinned_;
  Waiter waiter_;
  Throttle throttle_;
  Library library_{nullptr, nullptr};
  bool spins_ = false;
};

/// What libraries do on each rank's thread before its communicator connects the ranks: afterwards a
/// rank must not allocate device memory (arena.h). They add to it before main().
std::vector<void (*)()>& start_hooks();

/// The device of the rank on this thread; null outside any rank.
RankDevice*& current_rank_device();

}  // namespace rankbox::gpu
