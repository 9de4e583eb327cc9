// Device memory that is kept instead of freed: a rank's caching allocator.
//
// cudaMalloc and cudaFree may wait for every GPU that this one shares memory with, and so must not
// happen in the middle of a collective. So a block that is released is kept, and given out again to
// the next request of its size class. There are eight classes for each power of two: at most an
// eighth of a block is wasted, and equal tensors in a loop cost one cudaMalloc each, once.
//
// Blocks are reused in the order of one stream: what was enqueued on it before a release is done
// before whatever is enqueued after the next allocation. So the host never waits.
//
// Cost: a search in a map. Thread safety: belongs to one thread, the rank's.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include <cuda_runtime_api.h>

namespace rankbox::gpu {

class DeviceMemory {
 public:
  static constexpr std::int64_t kAlignment = 256;

  /// Of the device that is current on this thread.
  /// @param stream the stream in whose order blocks are reused; outlives this
  explicit DeviceMemory(cudaStream_t stream) : stream_(stream) {}
  /// Frees the blocks that were released. Those that were not stay valid; their holders
  /// cudaFree them.
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Aligned to kAlignment, uninitialised. Null for 0 bytes.
  /// When the device has no memory left, gives back what is kept and tries once more; throws
  /// OutOfMemory then. Throws InvalidArgument for a negative size.
  void* allocate(std::int64_t bytes);

  /// Null is fine. A block that is not of this allocator (of one that is gone, or another rank's)
  /// is given back to CUDA.
  /// REQUIRES: whatever uses the block was put on the stream, or the stream waits for it.
  void release(void* block) noexcept;

  /// Gives what is kept back to CUDA. Waits for the stream, 5 s at most; if it is not done then,
  /// keeps everything and returns false.
  bool trim() noexcept;

  /// Neither frees anything nor remembers it any more: for the end of a run that hangs.
  void abandon() noexcept;

  std::int64_t bytes_in_use() const { return bytes_in_use_; }  // as allocated: rounded up
  std::int64_t bytes_kept() const { return bytes_kept_; }
  std::int64_t device_allocations() const { return device_allocations_; }  // calls of cudaMalloc

 private:
  cudaStream_t stream_;
  std::unordered_map<void*, std::int64_t> in_use_;   // block -> bytes of its class
  std::map<std::int64_t, std::vector<void*>> kept_;  // bytes of the class -> blocks
  std::int64_t bytes_in_use_ = 0;
  std::int64_t bytes_kept_ = 0;
  std::int64_t device_allocations_ = 0;
};

/// The bytes that a request of this many is rounded up to.
std::int64_t size_class(std::int64_t bytes);

}  // namespace rankbox::gpu
