// The stream of a GPU that several ranks share.
//
// What any rank enqueues comes after all that any rank has enqueued before. So a message is one
// copy, enqueued by the rank that arrives second: nothing else has to order it after the sender's
// work and before the receiver's. No stream waits for anything but work that is enqueued already,
// so all of it completes, in any order of ranks.
//
// A launch takes longer than a small operation does. So those are collected, and one kernel
// executes up to 64 of them: it does independent ones at once, and the others in order.
//
//   SharedStream& gpu = SharedStream::of(device, launch_small_operations);
//   gpu.add({.into = a, .from = b, .count = 400});      // a copy
//   gpu.add({.into = a, .from = c, .count = 100, .kind = kAccumulate});
//   gpu.flush();                                        // one launch
//
// Ranks on other GPUs order their streams by events (order()).
//
// A launch that fails loses the operations that it had. So every later call throws the same error,
// until the run has ended; the next run gets another stream.
//
// Cost: an uncontended lock, and a comparison with each collected operation. Thread safety: any
// thread. Errors: CudaError, OutOfMemory.
#pragma once

#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <vector>

#include <cuda_runtime_api.h>

#include "gpu/device/check.h"
#include "gpu/device/small_operation.h"

namespace rankbox::gpu {

class SharedStream {
 public:
  /// Executes the operations, level by level.
  using Launch = void (*)(std::span<const SmallOperation> by_level, cudaStream_t stream);

  /// Returns the device's stream. It stays for the next run.
  static SharedStream& of(int device, Launch launch);
  /// After a run whose work hangs or is lost: the next run gets another stream.
  void retire() noexcept;

  SharedStream(int device, Launch launch);
  SharedStream(const SharedStream&) = delete;
  SharedStream& operator=(const SharedStream&) = delete;

  int device() const { return device_; }
  /// Call flush() before adding work to it.
  cudaStream_t stream() const { return stream_; }

  /// Returns whether few enough calls are queued: CUDA blocks the host when about 1,000 are, and no
  /// deadline ends that. To be called before each operation, and again until it is true.
  bool has_room();

  /// REQUIRES: its memory can be used by kernels on this device.
  void add(const SmallOperation& operation);
  /// Enqueues all that were added.
  void flush();
  bool has_failed();

  /// Copies on the stream: a small operation, if both are memory of this device and it is small.
  /// @param into_device, from_device that hold the memory
  void copy(void* into, int into_device, const void* from, int from_device, std::int64_t bytes,
            const Doing& doing);

  /// Returns memory for operations that are added, and work that is enqueued, from now on.
  void* allocate(std::int64_t bytes);
  /// Releases it after all present work and operations.
  void release(void* block) noexcept;

  /// Orders later work on `later` after all present work on `earlier`. Does not block.
  static void order(SharedStream& earlier, SharedStream& later);

 private:
  void flush_locked();

  const int device_;
  const Launch launch_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t event_ = nullptr;  // of order()
  cudaEvent_t mark_ = nullptr;   // of has_room()
  std::mutex lock_;              // guards the rest
  bool has_mark_ = false;
  int calls_ = 0;  // since the mark
  std::vector<SmallOperation> collected_;
  std::int64_t collected_bytes_ = 0;
  std::vector<void*> released_;  // to be released after those
  std::exception_ptr failure_;
};

}  // namespace rankbox::gpu
