// Control of the emulated NCCL for tests. It does what is impossible with the real one: injects
// errors and hangs into a rank's operations, and detects leaks.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>

#include <nccl.h>

namespace rankbox::gpu::emulation {

enum class NcclFault {
  kCallFails,   // the call returns the error
  kFailsLater,  // the call succeeds, ncclCommGetAsyncError reports it, the stream hangs
  kHangs,       // the stream hangs, without an error
  kInitFails,   // ncclCommInitRankConfig or ncclCommSplit returns the error
  kAbortHangs,  // ncclCommAbort does not return before the process ends
};

/// Injects a fault on this device: kInitFails into the next communicator, kAbortHangs into the next
/// abort, the others into the next send, receive or collective. One fault per device.
void order_nccl_fault(int device, NcclFault fault, ncclResult_t error);

/// Sets how many of NCCL's kernels a device executes at once: the others wait. 0: any number, as at
/// first.
void set_resident_kernels(int most);

/// Returns the number of communicators neither destroyed nor aborted yet.
std::int64_t live_nccl_communicators();

/// Returns the sum of their channels. Each takes memory for every peer (maxCTAs; by default 32).
std::int64_t live_nccl_channels();

/// Returns the number of operations that a stream has reached and that wait there for other ranks.
std::int64_t running_nccl_operations();

}  // namespace rankbox::gpu::emulation
