// The registry of device memory and pinned host memory.
#pragma once

#include <cstddef>
#include <optional>

#include <cuda_runtime_api.h>

namespace rankbox::gpu::emulation {

struct Block {
  char* data = nullptr;
  std::size_t bytes = 0;
  bool on_device = false;  // otherwise pinned host memory
  int device = 0;          // its device, or the one current at allocation
  bool of_pool = false;
  bool released = false;  // by cudaFreeAsync: a stream will get there

  /// Returns whether [address, address + count) is inside.
  bool holds(const void* address, std::size_t count) const {
    const char* const first = static_cast<const char*>(address);
    return first >= data && count <= bytes &&
           static_cast<std::size_t>(first - data) <= bytes - count;
  }
};

/// Returns the block that the address points into, or to the end of.
std::optional<Block> find_block(const void* address);

/// Returns whether a kernel on `device` may use this address. Null is accepted as an argument that
/// the kernel does not access.
bool kernel_may_use(int device, const void* address);

/// Returns whether a kernel on `device` may use memory of the other's pool.
bool pool_access_enabled(int device, int owner);

int device_of(cudaMemPool_t pool);

/// Adds a block of the device. Returns cudaErrorMemoryAllocation if there is no space.
cudaError_t add_device_block(void** address, std::size_t bytes, int device, bool of_pool);
/// Marks a block of a pool as released. Returns its device, or -1 if it is none.
int release_pool_block(void* address);
void remove_pool_block(void* address);

bool peer_access_enabled(int device, int peer);

}  // namespace rankbox::gpu::emulation
