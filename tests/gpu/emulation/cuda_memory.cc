#include "tests/gpu/emulation/cuda_memory.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>

#include "tests/gpu/emulation/cuda_call.h"
#include "tests/gpu/emulation/cuda_control.h"
#include "tests/gpu/emulation/cuda_stream.h"

namespace rankbox::gpu::emulation {
namespace {

constexpr std::align_val_t kAlignment{256};
// Makes every float, double and half NaN, and every integer -1.
constexpr int kFresh = 0xff;
// Larger blocks, such as cuBLAS's workspace, stay as they are: unused memory costs nothing.
constexpr std::size_t kMostToFill = std::size_t{16} << 20;

struct Memory {
  std::mutex mutex;
  std::map<const char*, Block> blocks;        // by their first byte
  std::map<int, std::size_t> used_on_device;  // bytes
  std::size_t capacity = 0;                   // 0: not determined yet
  std::map<int, std::size_t> used_of_pool;    // bytes, by device
  std::map<int, std::size_t> pool_size;       // the most that was used: it keeps all
  std::int64_t pool_growths = 0;
  std::atomic<std::int64_t> blocking_calls_amid_communication = 0;
};

Memory& memory() {
  static auto* const all = new Memory;
  return *all;
}

/// REQUIRES: memory().mutex is held.
std::size_t capacity() {
  if (memory().capacity == 0) {
    const char* const said = std::getenv("RANKBOX_EMULATED_MEMORY");
    memory().capacity = said == nullptr ? std::size_t{4} << 30 : std::strtoull(said, nullptr, 10);
  }
  return memory().capacity;
}

/// REQUIRES: memory().mutex is held.
cudaError_t add_block(void** address, Block block) {
  char* const data = static_cast<char*>(::operator new(block.bytes, kAlignment, std::nothrow));
  if (data == nullptr) return cudaErrorMemoryAllocation;
  if (block.bytes <= kMostToFill) std::memset(data, kFresh, block.bytes);
  block.data = data;
  memory().blocks.emplace(data, block);
  *address = data;
  return cudaSuccess;
}

/// On real GPUs that access each other's memory, these calls wait for all of them.
void note_blocking_call() {
  if (operations_among_devices() > 0) ++memory().blocking_calls_amid_communication;
}

cudaError_t allocate(void** address, std::size_t bytes, bool on_device) {
  if (address == nullptr) return cudaErrorInvalidValue;
  *address = nullptr;
  if (bytes == 0) return cudaSuccess;
  note_blocking_call();
  if (on_device) return add_device_block(address, bytes, current_device(), /*of_pool=*/false);
  const std::lock_guard lock(memory().mutex);
  return add_block(address, {.bytes = bytes, .device = current_device()});
}

/// Waits for the device first, as CUDA does, because its work may still use the block.
cudaError_t release(void* address, bool on_device) {
  if (address == nullptr) return cudaSuccess;
  const std::optional<Block> block = find_block(address);
  if (!block || block->data != address || block->on_device != on_device) {
    return cudaErrorInvalidValue;
  }
  note_blocking_call();
  if (!wait_for_device(block->device)) return cudaErrorLaunchTimeout;
  const std::lock_guard lock(memory().mutex);
  if (memory().blocks.erase(block->data) == 0) return cudaErrorInvalidValue;  // freed meanwhile
  if (on_device && !block->released) {
    memory().used_on_device[block->device] -= block->bytes;
    if (block->of_pool) memory().used_of_pool[block->device] -= block->bytes;
  }
  ::operator delete(address, kAlignment);
  return cudaSuccess;
}

}  // namespace

void set_device_memory(std::size_t bytes) {
  const std::lock_guard lock(memory().mutex);
  memory().capacity = bytes;
}

std::atomic<std::int64_t>& operations_among_devices() {
  static std::atomic<std::int64_t> operations{0};
  return operations;
}

std::int64_t blocking_calls_amid_communication() {
  return memory().blocking_calls_amid_communication;
}

cudaError_t add_device_block(void** address, std::size_t bytes, int device, bool of_pool) {
  const std::lock_guard lock(memory().mutex);
  std::size_t& used = memory().used_on_device[device];
  if (bytes > capacity() - std::min(capacity(), used)) return cudaErrorMemoryAllocation;
  const cudaError_t status =
      add_block(address, {.bytes = bytes, .on_device = true, .device = device, .of_pool = of_pool});
  if (status != cudaSuccess) return status;
  used += bytes;
  if (of_pool && (memory().used_of_pool[device] += bytes) > memory().pool_size[device]) {
    memory().pool_size[device] = memory().used_of_pool[device];
    ++memory().pool_growths;
  }
  return cudaSuccess;
}

std::int64_t pool_growths() {
  const std::lock_guard lock(memory().mutex);
  return memory().pool_growths;
}

int release_pool_block(void* address) {
  const std::lock_guard lock(memory().mutex);
  const auto found = memory().blocks.find(static_cast<const char*>(address));
  if (found == memory().blocks.end()) return -1;
  Block& block = found->second;
  if (!block.of_pool || block.released) return -1;
  block.released = true;
  memory().used_on_device[block.device] -= block.bytes;
  memory().used_of_pool[block.device] -= block.bytes;
  return block.device;
}

void remove_pool_block(void* address) {
  const std::lock_guard lock(memory().mutex);
  if (memory().blocks.erase(static_cast<const char*>(address)) == 0) return;
  ::operator delete(address, kAlignment);
}

MemoryInUse memory_in_use() {
  const std::lock_guard lock(memory().mutex);
  MemoryInUse sum;
  for (const auto& [data, block] : memory().blocks) {
    if (!block.on_device || block.released) continue;
    ++sum.allocations;
    sum.bytes += static_cast<std::int64_t>(block.bytes);
  }
  return sum;
}

std::optional<Block> find_block(const void* address) {
  const std::lock_guard lock(memory().mutex);
  auto after = memory().blocks.upper_bound(static_cast<const char*>(address));
  if (after == memory().blocks.begin()) return std::nullopt;
  const Block& block = std::prev(after)->second;
  if (!block.holds(address, 0)) return std::nullopt;
  return block;
}

bool is_device_memory(const void* address, std::size_t bytes) {
  const std::optional<Block> block = find_block(address);
  return block && block->holds(address, bytes);
}

bool kernel_may_use(int device, const void* address) {
  if (address == nullptr) return true;
  const std::optional<Block> block = find_block(address);
  if (!block) return false;
  if (!block->on_device || block->device == device) return true;
  return block->of_pool ? pool_access_enabled(device, block->device)
                        : peer_access_enabled(device, block->device);
}

extern "C" {

cudaError_t cudaMalloc(void** address, size_t size) {
  return call("cudaMalloc", [&] { return allocate(address, size, true); });
}

cudaError_t cudaFree(void* address) {
  return call("cudaFree", [&] { return release(address, true); });
}

cudaError_t cudaMallocHost(void** ptr, size_t size) {
  return call("cudaMallocHost", [&] { return allocate(ptr, size, false); });
}

cudaError_t cudaFreeHost(void* ptr) {
  return call("cudaFreeHost", [&] { return release(ptr, false); });
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return call("cudaMemGetInfo", [&] {
    if (free == nullptr || total == nullptr) return cudaErrorInvalidValue;
    const std::lock_guard lock(memory().mutex);
    *total = capacity();
    *free = *total - std::min(*total, memory().used_on_device[current_device()]);
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes* attributes, const void* ptr) {
  return call("cudaPointerGetAttributes", [&] {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    void* const address = const_cast<void*>(ptr);
    const std::optional<Block> block = find_block(ptr);
    if (!block) {
      *attributes = {cudaMemoryTypeUnregistered, -2, nullptr, address};
    } else if (block->on_device) {
      *attributes = {cudaMemoryTypeDevice, block->device, address, nullptr};
    } else {
      *attributes = {cudaMemoryTypeHost, block->device, address, address};
    }
    return cudaSuccess;
  });
}

}  // extern "C"

}  // namespace rankbox::gpu::emulation
