// What a test may do to the emulated NCCL that no program can do to the real one: let a rank's
// operations fail or hang, and see whether anything was left behind.
//
// Thread safety: every function may be called by any thread.
#pragma once

#include <cstdint>

#include <nccl.h>

namespace rankbox::gpu::emulation {

enum class NcclFault {
  kCallFails,   // the call returns the error
  kFailsLater,  // the call is well, ncclCommGetAsyncError tells of the error, the stream hangs
  kHangs,       // the stream hangs, and nobody is told
  kInitFails,   // ncclCommInitRankConfig or ncclCommSplit returns the error
};

/// Happens on this device to the operation (send, receive, collective; kInitFails: to the
/// communicator) that comes after `skip` others of the same sort. One such order per device.
void order_nccl_fault(int device, NcclFault fault, ncclResult_t error, std::int64_t skip = 0);
void cancel_nccl_faults();

/// Communicators that were made and neither destroyed nor aborted yet.
std::int64_t live_nccl_communicators();

/// Operations that a stream has come to and that wait there for other ranks.
std::int64_t running_nccl_operations();

}  // namespace rankbox::gpu::emulation
