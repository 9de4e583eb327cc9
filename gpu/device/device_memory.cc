#include "gpu/device/device_memory.h"

#include <bit>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "comm/errors.h"
#include "gpu/device/check.h"

namespace rankbox::gpu {
namespace {

constexpr std::chrono::seconds kLongestTrim{5};

/// Returns false if the stream is still busy after kLongestTrim. A failed stream counts as done.
bool drain(cudaStream_t stream) {
  const auto until = std::chrono::steady_clock::now() + kLongestTrim;
  while (cudaStreamQuery(stream) == cudaErrorNotReady) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return true;
}

/// Calls cudaFree and ignores its errors, which do not concern the caller.
void give_back(void* block) {
  if (cudaFree(block) != cudaSuccess) cudaGetLastError();
}

}  // namespace

std::int64_t size_class(std::int64_t bytes) {
  constexpr std::int64_t kSmallest = DeviceMemory::kAlignment;
  if (bytes <= 8 * kSmallest) return (bytes + kSmallest - 1) / kSmallest * kSmallest;
  // Eight steps from this power of two to the next.
  const auto below = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(bytes)));
  const std::int64_t step = below / 8;
  return (bytes + step - 1) / step * step;
}

DeviceMemory::~DeviceMemory() { trim(); }

void DeviceMemory::make_arena(std::int64_t bytes) {
  arena_ = Arena::make(bytes);
  if (arena_ != nullptr) ++device_allocations_;
}

void* DeviceMemory::allocate(std::int64_t bytes) {
  if (bytes < 0) throw InvalidArgument(fmt::format("{} bytes of device memory: < 0", bytes));
  if (bytes == 0) return nullptr;
  // No GPU has more memory, and rounding up must not overflow.
  constexpr std::int64_t kMost = std::int64_t{1} << 60;
  if (bytes > kMost) {
    throw_cuda_error(cudaErrorMemoryAllocation, "cudaMalloc", {.op = "allocate", .bytes = bytes});
  }
  const std::int64_t rounded = size_class(bytes);

  void* block = arena_ == nullptr ? nullptr : arena_->take(rounded);
  if (block != nullptr) {
    // the usual case
  } else if (const auto kept = kept_.find(rounded); kept != kept_.end()) {
    block = kept->second.back();
    kept->second.pop_back();
    if (kept->second.empty()) kept_.erase(kept);
    bytes_kept_ -= rounded;
  } else {
    const auto size = static_cast<std::size_t>(rounded);
    cudaError_t status = cudaMalloc(&block, size);
    if (status == cudaErrorMemoryAllocation && (bytes_kept_ > 0 || !foreign_.empty())) {
      cudaGetLastError();
      trim();
      status = cudaMalloc(&block, size);
    }
    check(status, "cudaMalloc", {.op = "allocate", .bytes = bytes});
    ++device_allocations_;
  }
  // Another thread may have freed a block with this address, which is still listed.
  std::int64_t& listed = in_use_[block];
  bytes_in_use_ += rounded - listed;
  listed = rounded;
  return block;
}

void DeviceMemory::release(void* block) noexcept {
  if (block == nullptr) return;
  const auto used = in_use_.find(block);
  if (used == in_use_.end())
    return arena_ == nullptr ? release_elsewhere(block) : foreign_.push_back(block);
  const std::int64_t bytes = used->second;
  in_use_.erase(used);
  bytes_in_use_ -= bytes;
  if (arena_ != nullptr && arena_->release(block)) return;
  kept_[bytes].push_back(block);
  bytes_kept_ += bytes;
}

void DeviceMemory::release_elsewhere(void* block) noexcept {
  if (block != nullptr && !Arena::release_elsewhere(block)) give_back(block);
}

bool DeviceMemory::trim() noexcept {
  if (kept_.empty() && foreign_.empty()) return true;
  if (!drain(stream_)) return false;
  for (const auto& [bytes, blocks] : kept_) {
    for (void* const block : blocks) give_back(block);
  }
  for (void* const block : foreign_) release_elsewhere(block);
  kept_.clear();
  foreign_.clear();
  bytes_kept_ = 0;
  return true;
}

void DeviceMemory::abandon() noexcept {
  if (arena_ != nullptr) arena_->abandon();
  kept_.clear();
  foreign_.clear();
  in_use_.clear();
  bytes_kept_ = 0;
  bytes_in_use_ = 0;
}

}  // namespace rankbox::gpu
