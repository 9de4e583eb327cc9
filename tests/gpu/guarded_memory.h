// Device memory at a chosen alignment, between guards, for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "gpu/device/check.h"
#include "gpu/device/rank_device.h"

namespace rankbox::gpu {

/// Copies from and to host memory, in the order of the rank's stream. Blocks.
template <class T>
void upload(RankDevice& gpu, T* into, const std::vector<T>& from) {
  check(cudaMemcpyAsync(into, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice,
                        gpu.stream()),
        "cudaMemcpyAsync");
}
template <class T>
std::vector<T> download(RankDevice& gpu, const T* from, std::size_t count) {
  std::vector<T> into(count);
  check(cudaMemcpyAsync(into.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost, gpu.stream()),
        "cudaMemcpyAsync");
  gpu.synchronize(30);
  return into;
}

/// Puts `values` on the device, `offset` elements from a 16-byte boundary, with 32 bytes of guards
/// before and after.
template <class T>
class GuardedMemory {
 public:
  GuardedMemory(RankDevice& gpu, const std::vector<T>& values, int offset)
      : gpu_(gpu), first_(kGuards + static_cast<std::size_t>(offset)), count_(values.size()) {
    before_.resize(first_ + count_ + kGuards);
    std::memset(static_cast<void*>(before_.data()), 0x5a, before_.size() * sizeof(T));
    std::copy(values.begin(), values.end(), before_.begin() + static_cast<std::ptrdiff_t>(first_));
    block_ = static_cast<T*>(gpu.allocate(static_cast<std::int64_t>(before_.size() * sizeof(T))));
    upload(gpu, block_, before_);
  }
  ~GuardedMemory() { gpu_.release(block_); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  T* data() const { return block_ + first_; }

  std::vector<T> values() const {
    const std::vector<T> now = download(gpu_, block_, before_.size());
    return std::vector<T>(now.begin() + static_cast<std::ptrdiff_t>(first_),
                          now.begin() + static_cast<std::ptrdiff_t>(first_ + count_));
  }
  /// Returns whether the guards are unchanged.
  bool guards_hold() const {
    const std::vector<T> now = download(gpu_, block_, before_.size());
    return same(now, 0, first_) && same(now, first_ + count_, kGuards);
  }
  bool unchanged() const { return same(download(gpu_, block_, before_.size()), 0, before_.size()); }

 private:
  static constexpr std::size_t kGuards = 32 / sizeof(T);  // a multiple of 16 bytes

  bool same(const std::vector<T>& now, std::size_t begin, std::size_t count) const {
    return std::memcmp(now.data() + begin, before_.data() + begin, count * sizeof(T)) == 0;
  }

  RankDevice& gpu_;
  std::size_t first_;
  std::size_t count_;
  std::vector<T> before_;
  T* block_ = nullptr;
};

}  // namespace rankbox::gpu
