// Emulated stream-ordered memory.
#include <cstdint>
#include <memory>

#include "tests/gpu/emulation/cuda_call.h"
#include "tests/gpu/emulation/cuda_memory.h"
#include "tests/gpu/emulation/cuda_stream.h"

namespace rankbox::gpu::emulation {

int device_of(cudaMemPool_t pool) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(pool)) - 1;
}

extern "C" {

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return call("cudaDeviceGetDefaultMemPool", device, [&] {
    if (pool == nullptr || device < 0 || device >= device_count()) return cudaErrorInvalidValue;
    *pool = reinterpret_cast<cudaMemPool_t>(static_cast<std::uintptr_t>(device) + 1);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attr, void* value) {
  return call("cudaMemPoolSetAttribute", device_of(pool), [&] {
    const bool known =
        attr >= cudaMemPoolReuseFollowEventDependencies && attr <= cudaMemPoolAttrReleaseThreshold;
    return known && value != nullptr ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t /*bytes_to_keep*/) {
  return call("cudaMemPoolTrimTo", device_of(pool), [] { return cudaSuccess; });
}

cudaError_t cudaMallocAsync(void** address, size_t size, cudaStream_t handle) {
  return call("cudaMallocAsync", [&] {
    const std::shared_ptr<Stream> stream = find_stream(handle);
    if (address == nullptr) return cudaErrorInvalidValue;
    *address = nullptr;
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    return size == 0 ? cudaSuccess
                     : add_device_block(address, size, stream->device(), /*of_pool=*/true);
  });
}

cudaError_t cudaFreeAsync(void* address, cudaStream_t handle) {
  return call("cudaFreeAsync", [&] {
    const std::shared_ptr<Stream> stream = find_stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    // On the stream of another device real ones may accept it; the documentation does not tell.
    if (release_pool_block(address) != stream->device()) return cudaErrorInvalidValue;
    stream->enqueue([address] { remove_pool_block(address); }, /*always=*/true);
    return cudaSuccess;
  });
}

}  // extern "C"

}  // namespace rankbox::gpu::emulation
