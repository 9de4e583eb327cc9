// What a test, or another emulated library, may do to the emulated GPUs that no program can do to
// real ones: let calls fail, hold streams up, and put functions of its own on a stream.
//
// Thread safety: every function may be called by any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include <cuda_runtime_api.h>

namespace rankbox::gpu::emulation {

// ---- How many devices, and how large --------------------------------------------------------

/// Overrides RANKBOX_EMULATED_GPUS (default 1). 0: calls fail with cudaErrorNoDevice.
/// REQUIRES: no memory and no stream on the devices that go.
void set_device_count(int count);

/// Bytes of memory of each device; overrides RANKBOX_EMULATED_MEMORY (default 4 GiB).
void set_device_memory(std::size_t bytes);

/// Whether devices reach each other's memory (default: yes). Copies work either way.
void set_peer_access(bool possible);

/// Device memory in use, over all devices: allocations, and bytes.
struct MemoryInUse {
  std::int64_t allocations = 0;
  std::int64_t bytes = 0;
};
MemoryInUse memory_in_use();

/// So many calls of this function since the process began, of those named to fail_next() only by
/// the functions themselves: "cudaMalloc", "cudaMemcpyAsync", …
std::int64_t calls_of(const char* function);

// ---- Failing ---------------------------------------------------------------------------------

/// The call of this name that comes after `skip` others, on whichever thread, does nothing and
/// returns `error`. One such order per name; error cudaSuccess cancels it.
void fail_next(const char* function, cudaError_t error, int skip = 0);

/// What a faulty kernel does to a real GPU: from now on every call that concerns the device, also
/// those that wait for its streams, returns `error`. cudaSuccess heals it.
void break_device(int device, cudaError_t error);

// ---- Timing ----------------------------------------------------------------------------------

/// Streams pause at random, for up to half a millisecond, before some of their operations, other
/// ones for every seed: an order that only luck had kept breaks. 0 ends it. Overrides the variable
/// RANKBOX_EMULATED_DELAYS.
void delay_streams(std::uint64_t seed);

// ---- Streams ---------------------------------------------------------------------------------

/// Runs `work` on the stream, in its order. Unlike a function of cudaLaunchHostFunc it may block,
/// also until other streams come as far; it must then give up once exiting() is true, so look at
/// that at least every 50 ms. `work` may touch device memory as if it were its own, and must not
/// throw.
cudaError_t enqueue(cudaStream_t stream, std::function<void()> work);

/// The device that the stream belongs to, -1 if there is no such stream.
int device_of(cudaStream_t stream);

/// The process is ending: whoever blocks on a stream returns now.
bool exiting();

/// Is [address, address + bytes) inside one block of device memory (or pinned host memory)?
bool is_device_memory(const void* address, std::size_t bytes);

}  // namespace rankbox::gpu::emulation
