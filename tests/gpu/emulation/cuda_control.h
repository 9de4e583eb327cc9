// Control of the emulated GPUs for tests and other emulated libraries. It does what is impossible
// on real GPUs: injects errors, delays streams, and runs arbitrary functions on a stream.
//
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include <cuda_runtime_api.h>

namespace rankbox::gpu::emulation {

// ---- Number and size of devices -------------------------------------------------------------

/// Overrides RANKBOX_EMULATED_GPUS (default 1). 0: calls fail with cudaErrorNoDevice.
/// REQUIRES: the devices that disappear have no memory and no streams.
void set_device_count(int count);

/// Bytes of memory of each device; overrides RANKBOX_EMULATED_MEMORY (default 4 GiB).
void set_device_memory(std::size_t bytes);

/// Sets whether devices can access each other's memory (default: yes). Copies work either way.
void set_peer_access(bool possible);

/// Device memory in use on all devices, without what was released: allocations and bytes.
struct MemoryInUse {
  std::int64_t allocations = 0;
  std::int64_t bytes = 0;
};
MemoryInUse memory_in_use();

/// Operations of all streams that wait for other devices. The emulated NCCL counts its own.
std::atomic<std::int64_t>& operations_among_devices();
/// Returns how often cudaMalloc, cudaFree or their like for pinned memory were called during such
/// an operation. On real GPUs that access each other's memory they wait for all of them, which may
/// deadlock.
std::int64_t blocking_calls_amid_communication();

/// Returns how often a pool of stream-ordered memory had to grow, by a request to the driver.
std::int64_t pool_growths();

/// Returns the number of copies on streams between device memory and pageable host memory so far.
/// On a real GPU they wait in the driver, and have deadlocked beside kernels of NCCL.
std::int64_t pageable_copies();

/// Returns the number of calls of this function since the process began: "cudaMalloc",
/// "cudaMemcpyAsync", …
std::int64_t calls_of(const char* function);

// ---- Errors ----------------------------------------------------------------------------------

/// After `skip` more calls of this function, on any thread, the next one does nothing and returns
/// `error`. One injected error per name; cudaSuccess cancels it. Returns whether there was one that
/// no call has had.
bool fail_next(const char* function, cudaError_t error, int skip = 0);

/// Breaks a device as a faulty kernel breaks a real GPU. From then on every call that concerns it,
/// including waits for its streams, returns `error`. cudaSuccess repairs it.
void break_device(int device, cudaError_t error);

// ---- Timing ----------------------------------------------------------------------------------

/// Pauses streams at random before some of their operations, for up to half a millisecond,
/// depending on the seed. This exposes orders that held only by luck. 0 ends it. Overrides the
/// variable RANKBOX_EMULATED_DELAYS.
void delay_streams(std::uint64_t seed);

/// Gives each device that many hardware queues, which the streams that are created from now on
/// share in turn. 0: one for each stream. At first there are 32, the most that a real GPU has.
void set_hardware_queues(int queues);

/// Sets whether the first launch of a kernel on a device waits for all work there, as when CUDA
/// loads code at that time (CUDA_MODULE_LOADING=LAZY). All kernels count as new then.
void load_kernels_at_first_launch(bool on);

// ---- Streams ---------------------------------------------------------------------------------

/// Runs `work` on the stream, in its order. Unlike a function of cudaLaunchHostFunc it may block,
/// even until other streams make progress. It must then return once exiting() is true, and check
/// that at least every 50 ms. `work` may access device memory directly, and must not throw.
cudaError_t enqueue(cudaStream_t stream, std::function<void()> work);

/// Returns the stream's device, or -1 if there is no such stream.
int device_of(cudaStream_t stream);

/// Returns whether the process is ending: functions that block on a stream must return.
bool exiting();

/// Returns whether [address, address + bytes) is inside one block of device memory (or pinned host
/// memory).
bool is_device_memory(const void* address, std::size_t bytes);

}  // namespace rankbox::gpu::emulation
