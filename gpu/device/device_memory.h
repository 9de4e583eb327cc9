// Device memory, from CUDA's stream-ordered pools.
//
// cudaMalloc and cudaFree may wait for every GPU that can access this one's memory. If such a GPU
// is in a receive whose sender is in cudaMalloc, both wait forever, and no deadline ends that. So
// ranks that communicate must not call them. They call cudaMallocAsync, which takes memory from
// their GPU's pool. The pool is filled once, before ranks communicate (reserve_memory), and keeps
// what is freed. Only what does not fit is requested from the driver.
//
// Blocks are reused in the order of a stream: work enqueued before a release finishes before work
// enqueued after the next allocation on that stream. So the host never waits.
//
// Thread safety: any thread. Errors: CudaError, OutOfMemory.
#pragma once

#include <atomic>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "gpu/device/check.h"

namespace rankbox::gpu {

/// Prepares the pool of the thread's current device: it keeps what is freed, all GPUs that reach
/// the device may use its memory, and `bytes` are in it. What an earlier call has added counts. Of
/// what is missing, half, a quarter, … is added if less is free. Blocks until it is done.
void reserve_memory(std::int64_t bytes);

/// Returns how much ranks on the thread's current device reserve: RANKBOX_GPU_POOL_MIB for each if
/// it is set, else their share of half of the free memory, at most 8 GiB each. The rest is for
/// NCCL, and for requests that do not fit.
/// @param ranks of this process on the device
/// @param sharers ranks of all processes on it
/// Throws InvalidArgument for an invalid variable.
std::int64_t bytes_to_reserve(int ranks, int sharers);

/// Returns uninitialised memory of the stream's device, aligned to 256 bytes, for work that is
/// enqueued on the stream from now on; null for 0 bytes. Throws OutOfMemory, and InvalidArgument
/// for a negative size.
void* allocate_on(cudaStream_t stream, std::int64_t bytes);

/// Releases a block once the stream has executed its present work. Accepts null.
/// REQUIRES: all other work that uses the block has finished, or the stream waits for it.
void release_on(cudaStream_t stream, void* block) noexcept;

/// Copies on a stream of the thread's current device. Also between GPUs that cannot reach each
/// other's memory.
/// @param into_device, from_device that hold the memory
void copy_on(cudaStream_t stream, void* into, int into_device, const void* from, int from_device,
             std::int64_t bytes, const Doing& doing);

/// Releases a block of any device, whose work has finished but for this thread's rank's. The block
/// stays allocated if operations may still use it: the rank keeps its blocks, or a run has hung.
void release_elsewhere(void* block) noexcept;

/// Whether a run of this process has left work on a GPU that does not end. Any thread sets it.
std::atomic<bool>& a_run_hung();

}  // namespace rankbox::gpu
