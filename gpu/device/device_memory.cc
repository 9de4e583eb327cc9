#include "gpu/device/device_memory.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "comm/errors.h"
#include "comm/whole_number.h"
#include "gpu/device/devices.h"
#include "gpu/device/rank_device.h"

namespace rankbox::gpu {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kMostOfARank = 8192 * kMiB;

template <class Value>
void set_attribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, Value value) {
  check(cudaMemPoolSetAttribute(pool, attribute, &value), "cudaMemPoolSetAttribute",
        {.op = "start"});
}

void prepare_pool(int device) {
  cudaMemPool_t pool = nullptr;
  check(cudaDeviceGetDefaultMemPool(&pool, device), "cudaDeviceGetDefaultMemPool", {.op = "start"});
  set_attribute(pool, cudaMemPoolAttrReleaseThreshold, UINT64_MAX);
  // Otherwise a stream may have to wait for another one, which waits for another rank.
  set_attribute(pool, cudaMemPoolReuseAllowInternalDependencies, 0);
  std::vector<cudaMemAccessDesc> peers;
  const int count = device_count();
  for (int peer = 0; peer < count; ++peer) {
    if (peer == device || !can_access(peer, device)) continue;
    cudaMemAccessDesc access{};
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = peer;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    peers.push_back(access);
  }
  if (peers.empty()) return;
  check(cudaMemPoolSetAccess(pool, peers.data(), peers.size()), "cudaMemPoolSetAccess",
        {.op = "start"});
}

/// Adds the bytes to the pool by allocating them once.
void fill_pool(std::int64_t bytes) {
  for (; bytes >= kMiB; bytes /= 2) {
    void* block = nullptr;
    if (cudaMallocAsync(&block, static_cast<std::size_t>(bytes), nullptr) == cudaSuccess) {
      check(cudaFreeAsync(block, nullptr), "cudaFreeAsync", {.op = "start"});
      break;
    }
    cudaGetLastError();
  }
  check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize", {.op = "start"});
}

}  // namespace

void reserve_memory(std::int64_t bytes) {
  struct Pool {
    std::mutex lock;  // guards the rest. Ranks may not communicate before the pool is filled
    std::int64_t reserved = 0;
  };
  static std::mutex lock;  // guards the next
  static std::map<int, Pool> pools;
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice", {.op = "start"});
  Pool& pool = [&]() -> Pool& {
    const std::lock_guard guard(lock);
    return pools[device];
  }();
  const std::lock_guard guard(pool.lock);
  prepare_pool(device);
  if (bytes <= pool.reserved) return;
  fill_pool(bytes - pool.reserved);
  pool.reserved = bytes;
}

std::int64_t bytes_to_reserve(int ranks, int sharers) {
  constexpr const char* kVariable = "RANKBOX_GPU_POOL_MIB";
  if (const char* const text = std::getenv(kVariable); text != nullptr && *text != '\0') {
    if (const auto value = parse_whole_number(text, 0, 1 << 20)) return *value * kMiB * ranks;
    throw InvalidArgument(fmt::format(
        "{}='{}' is not a number of MiB, 0 to {}: correct or unset it", kVariable, text, 1 << 20));
  }
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo", {.op = "start"});
  return ranks * std::min(kMostOfARank, static_cast<std::int64_t>(free) / 2 / sharers);
}

void* allocate_on(cudaStream_t stream, std::int64_t bytes) {
  if (bytes < 0) throw InvalidArgument(fmt::format("{} bytes of device memory: < 0", bytes));
  if (bytes == 0) return nullptr;
  void* block = nullptr;
  check(cudaMallocAsync(&block, static_cast<std::size_t>(bytes), stream), "cudaMallocAsync",
        {.op = "allocate", .bytes = bytes});
  return block;
}

void release_on(cudaStream_t stream, void* block) noexcept {
  // Errors do not concern the caller.
  if (block != nullptr && cudaFreeAsync(block, stream) != cudaSuccess) cudaGetLastError();
}

void copy_on(cudaStream_t stream, void* into, int into_device, const void* from, int from_device,
             std::int64_t bytes, const Doing& doing) {
  const auto size = static_cast<std::size_t>(bytes);
  int here = 0;
  check(cudaGetDevice(&here), "cudaGetDevice", doing);
  if (into_device == here && from_device == here) {
    check(cudaMemcpyAsync(into, from, size, cudaMemcpyDefault, stream), "cudaMemcpyAsync", doing);
  } else {
    // Without peer access, a plain copy of another GPU's pool memory may be refused.
    check(cudaMemcpyPeerAsync(into, into_device, from, from_device, size, stream),
          "cudaMemcpyPeerAsync", doing);
  }
}

void release_elsewhere(void* block) noexcept {
  RankDevice* const here = current_rank_device();
  if (block == nullptr || a_run_hung() || (here != nullptr && here->keeps_blocks())) return;
  cudaPointerAttributes attributes = {};
  if (cudaPointerGetAttributes(&attributes, block) != cudaSuccess) {
    cudaGetLastError();
    return;
  }
  try {
    const DeviceGuard guard(attributes.device);
    if (here != nullptr) here->order_before(nullptr);
    release_on(nullptr, block);
  } catch (...) {  // the block stays
  }
}

std::atomic<bool>& a_run_hung() {
  static std::atomic<bool> hung{false};
  return hung;
}

}  // namespace rankbox::gpu
