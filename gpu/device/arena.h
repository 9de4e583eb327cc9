// One block of device memory that a rank allocates when it starts, and its tensors within it.
//
// cudaMalloc and cudaFree may wait for every GPU that can access this one's memory. If such a GPU
// is in a receive whose sender is in cudaMalloc, both wait forever, and no deadline ends that. So
// ranks that communicate must not call them.
//
// A request takes the smallest free range that fits; free neighbours merge. Ranges are reused in
// the order of one stream: see device_memory.h.
//
// A range may outlive its owner (a tensor that a rank returns), and another thread may release it.
// CUDA gets the block back with the last range after the owner's end. Until then a range that
// another thread released stays unused: nothing orders that thread's work before the owner's.
//
// Cost: a search in the free ranges. Thread safety: only the owner's thread may use it, except
// release_elsewhere(). Errors: CudaError.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>

namespace rankbox::gpu {

class Arena {
 public:
  static constexpr std::int64_t kAlignment = 256;

  /// Allocates this many bytes on the thread's current device, or half, a quarter, … of them if
  /// less is free. Returns null if that is less than 1 MiB.
  static std::unique_ptr<Arena> make(std::int64_t bytes);
  /// Calls cudaFree, unless ranges are still in use. REQUIRES: all work on them has finished.
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  std::int64_t bytes() const { return bytes_; }

  /// Returns at least that many bytes, aligned to kAlignment; null if no free range fits.
  /// REQUIRES: bytes > 0.
  void* take(std::int64_t bytes);
  /// Returns false for memory that take() did not return.
  bool release(void* range) noexcept;

  /// Releases a range of an arena of another thread, or of one whose owner has ended. Returns false
  /// if it is of no arena. Any thread.
  static bool release_elsewhere(void* range) noexcept;

  /// Leaves the block allocated until the process ends, for the end of a run that hangs.
  void abandon() noexcept;

 private:
  Arena(char* block, std::int64_t bytes);

  char* block_;
  std::int64_t bytes_;
  std::map<char*, std::int64_t> free_;            // ranges: first byte -> bytes
  std::unordered_map<void*, std::int64_t> used_;  // the same
};

/// Returns the size of the arena of a rank on the thread's current device: RANKBOX_GPU_ARENA_MIB if
/// it is set, else its share of half of the free memory, 8 GiB at most. The rest is for NCCL, and
/// for requests that do not fit.
/// @param ranks how many share the device; 0: no arena
/// Throws InvalidArgument for an invalid variable.
std::int64_t arena_bytes(int ranks);

}  // namespace rankbox::gpu
