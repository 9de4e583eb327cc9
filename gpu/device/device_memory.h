// A rank's allocator for device memory: an arena, and a cache for what does not fit into it.
//
// cudaMalloc and cudaFree may wait for every GPU that shares memory with this one, so a collective
// must not call them. Memory comes from the arena that the rank allocated at its start (arena.h).
// What does not fit, or has no arena, is allocated when it is needed. It is kept when released, and
// reused for the next request of its size class. There are eight classes per power of two, so at
// most an eighth of a block is wasted. Equal tensors in a loop cost one cudaMalloc each, once.
//
// Blocks are reused in the order of one stream: work enqueued before a release finishes before work
// enqueued after the next allocation. So the host never waits.
//
// Cost: a search in a map. Thread safety: only the rank's thread may use it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include <cuda_runtime_api.h>

#include "gpu/device/arena.h"

namespace rankbox::gpu {

class DeviceMemory {
 public:
  static constexpr std::int64_t kAlignment = Arena::kAlignment;

  /// Allocates on the device that is current on this thread.
  /// @param stream blocks are reused in its order; outlives this
  explicit DeviceMemory(cudaStream_t stream) : stream_(stream) {}
  /// Frees the released blocks. Blocks still in use stay valid; their holders call
  /// release_elsewhere().
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Allocates the arena: see Arena::make. REQUIRES: nothing was allocated yet.
  void make_arena(std::int64_t bytes);

  /// Returns uninitialised memory aligned to kAlignment; null for 0 bytes.
  /// When the device has no memory left, frees the kept blocks and retries once, then throws
  /// OutOfMemory. Throws InvalidArgument for a negative size.
  void* allocate(std::int64_t bytes);

  /// Accepts null, and blocks of another allocator: see release_elsewhere(), which an allocator
  /// with an arena calls only in trim(), since cudaFree may wait for GPUs that wait for this rank.
  /// REQUIRES: all work that uses the block is on the stream, or the stream waits for it.
  void release(void* block) noexcept;

  /// Releases a block of an allocator that is destroyed, or is another thread's. A block outside of
  /// its arena goes back to CUDA, which waits until it is unused. Any thread.
  static void release_elsewhere(void* block) noexcept;

  /// Frees the kept blocks, and those of other allocators. Waits for the stream, 5 s at most; if it
  /// is still busy then, keeps everything and returns false.
  bool trim() noexcept;

  /// Forgets all blocks without freeing them, for the end of a run that hangs.
  void abandon() noexcept;

  std::int64_t bytes_in_use() const { return bytes_in_use_; }  // rounded up, as allocated
  std::int64_t bytes_kept() const { return bytes_kept_; }      // outside of the arena
  std::int64_t device_allocations() const { return device_allocations_; }  // cudaMalloc calls

 private:
  cudaStream_t stream_;
  std::unique_ptr<Arena> arena_;                     // null: there is none
  std::unordered_map<void*, std::int64_t> in_use_;   // block -> bytes of its class
  std::map<std::int64_t, std::vector<void*>> kept_;  // bytes of the class -> blocks
  std::vector<void*> foreign_;                       // released here, of other allocators
  std::int64_t bytes_in_use_ = 0;
  std::int64_t bytes_kept_ = 0;
  std::int64_t device_allocations_ = 0;
};

/// Returns the number of bytes that a request is rounded up to.
std::int64_t size_class(std::int64_t bytes);

}  // namespace rankbox::gpu
