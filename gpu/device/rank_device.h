// A rank's share of a GPU: a stream, and what waits for it. The stream carries arithmetic and
// blocking communication:
//
//   RankDevice gpu(rank, device);
//   void* data = gpu.allocate(bytes);
//   gpu.before_work({.op = "accumulate"});
//   launch_accumulate(data, other, count, DType::kFloat32, ReduceOp::SUM, gpu.stream());
//   ...
//   gpu.synchronize(30, {.op = "all_reduce"});     // or TimedOut
//
// Ranks that share a GPU share its stream (shared_stream.h). All others have one each.
//
// What takes long to create (stream, event, pinned memory, a library's handle) is kept when a rank
// ends well, and used again by the next rank on that device.
//
// Thread safety: only the thread that created it may use it, but other threads may wait on the
// handles. Errors: CudaError, OutOfMemory, TimedOut.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include "gpu/device/check.h"

namespace rankbox::gpu {

class SharedStream;

class RankDevice {
 public:
  /// Makes `device` this thread's current device, and this object current_rank_device().
  /// @param shared the stream of all ranks on the device, which outlives this; null: a stream apart
  RankDevice(int rank, int device, SharedStream* shared = nullptr);
  /// Waits for the stream, 5 s at most. Work that still runs then (a collective whose peer is gone)
  /// cannot be stopped from here, and its stream stays until the process ends.
  ~RankDevice();
  RankDevice(const RankDevice&) = delete;
  RankDevice& operator=(const RankDevice&) = delete;

  int rank() const { return rank_; }
  int device() const { return device_; }
  /// Call before_work() before adding work to it.
  cudaStream_t stream() const { return kept_.stream; }
  /// Null: no other rank uses stream().
  SharedStream* shared() const { return shared_; }

  // ---- Memory: see device_memory.h ----

  /// As allocate_on(stream()). Blocks while too much is queued; and where memory runs out, until
  /// the stream's work has ended and released some, 5 s at most. Throws what make_room() does, too.
  void* allocate(std::int64_t bytes);
  /// Releases it after all present work. REQUIRES: the block is of this device, and all work that
  /// uses it is on stream(), or stream() waits for it.
  void release(void* block) noexcept;
  /// Keeps all blocks that are released from now on until the rank ends: operations on other
  /// streams may use them, since a request was dropped. While an exception passes, release() does
  /// the same.
  void keep_blocks() { keeps_blocks_ = true; }
  bool keeps_blocks() const { return keeps_blocks_ || std::uncaught_exceptions() > 0; }

  // ---- Other streams ----

  /// Returns a stream beside stream(). Few are ever created: a GPU has 32 hardware queues, and
  /// streams that share one wait for each other.
  cudaStream_t take_stream(const Doing& doing);
  /// Leaves it to the next take_stream() on this device, unless it is still busy. Accepts null.
  void give_back(cudaStream_t stream) noexcept;

  // ---- Order ----

  /// Orders later work on `later`, of any device, after all present work on stream().
  void order_before(cudaStream_t later);

  /// To be called before a kernel or copy is enqueued on stream(): make_room(), and on a shared
  /// stream the operations that were collected are enqueued.
  void before_work(const Doing& doing);
  /// Blocks while too much is queued: CUDA blocks the host when about 1,000 launches are, and no
  /// deadline ends that.
  void make_room(const Doing& doing) {
    if (make_room_) make_room_(doing);
  }

  /// Sets what make_room() calls; null: nothing. A communicator, whose streams may wait for a rank
  /// that never sends, sets it, and so does the plane of ranks that share a stream.
  using MakeRoom = std::function<void(const Doing& doing)>;
  void set_make_room(MakeRoom call) { make_room_ = std::move(call); }

  // ---- To and from the host ----

  /// Blocks until the bytes are copied on stream(). They go through pinned memory, a MiB at a time:
  /// a copy of pageable memory waits in the driver, without a deadline, and may wait for kernels of
  /// NCCL that wait for this rank.
  /// REQUIRES: this rank's work on stream() has finished. Throws CudaError, and TimedOut after 30 s
  /// without progress.
  void copy_from_host(void* into, const void* from, std::int64_t bytes, const Doing& doing);
  void copy_to_host(void* into, const void* from, std::int64_t bytes, const Doing& doing);

  // ---- Libraries ----

  /// A library's handle, which works on this stream. Null until its first call sets it. The next
  /// rank gets it with the stream, so it is never destroyed.
  void*& library() { return kept_.library; }

  // ---- Waiting ----

  /// Blocks until this rank's work on stream() has finished. Throws TimedOut after this many
  /// seconds, CudaError if work on it failed, or what the waiter throws, if there is one.
  void synchronize(double deadline_seconds, const Doing& doing = {}) {
    waiter_ ? waiter_(doing) : wait(deadline_seconds, doing);
  }

  /// While calls are timed, waits never sleep: waking up would add to the time.
  void set_spins(bool spins) { spins_ = spins; }

  /// Replaces the wait of synchronize(). A communicator sets one, because it knows other reasons to
  /// end the wait and has its own deadline. Null: none.
  using Waiter = std::function<void(const Doing& doing)>;
  void set_waiter(Waiter waiter) { waiter_ = std::move(waiter); }

  /// Blocks until all present work on stream() has finished, without a waiter.
  void wait(double deadline_seconds, const Doing& doing = {});
  /// Blocks until done() is true. Throws TimedOut after that many seconds.
  void wait_until(const std::function<bool()>& done, double deadline_seconds, const Doing& doing);
  /// Waits some seconds for it. Returns whether the work has finished, or failed.
  bool ends() noexcept;

  /// What a rank leaves to the next one on its stream's device.
  struct Kept {
    cudaStream_t stream = nullptr;
    cudaEvent_t event = nullptr;  // of waits and of order_before()
    char* pinned = nullptr;
    void* library = nullptr;
  };

 private:
  void create();
  void copy_piece(void* into, const void* from, std::size_t bytes, const Doing& doing);

  int rank_;
  int device_;
  SharedStream* shared_;
  Kept kept_;
  bool keeps_blocks_ = false;
  std::vector<void*> blocks_;  // kept
  Waiter waiter_;
  MakeRoom make_room_;
  bool spins_ = false;
};

/// What libraries do on each rank's thread before its communicator connects the ranks: afterwards a
/// rank must not allocate device memory (device_memory.h). They add to it before main().
std::vector<void (*)()>& start_hooks();

/// The device of the rank on this thread; null outside any rank.
RankDevice*& current_rank_device();

}  // namespace rankbox::gpu
