// A communicator of the emulated NCCL, and helpers of its functions.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <nccl.h>

#include "tests/gpu/emulation/nccl_shared_comm.h"

/// Only one thread at a time may use it, except members shared by pointer.
struct ncclComm {
  std::shared_ptr<rankbox::gpu::emulation::SharedComm> shared_comm;
  int rank = -1;
  int device = -1;
  bool blocking = true;
  int channels = 0;
  std::shared_ptr<std::atomic<bool>> aborted = std::make_shared<std::atomic<bool>>(false);
  std::uint64_t collectives = 0;  // called so far
  std::uint64_t splits = 0;
  cudaEvent_t latest = nullptr;  // recorded after its newest kernel
  bool finalized = false;

  // Non-blocking: the rest of a call. ncclCommGetAsyncError executes it after `looks` queries, and
  // again as long as it returns ncclInProgress.
  std::function<ncclResult_t()> pending;
  int looks = 0;
  ncclResult_t async_error = ncclSuccess;
};

namespace rankbox::gpu::emulation {

/// Stores the text for ncclGetLastError, and returns the result.
ncclResult_t fail(ncclResult_t result, const std::string& text);

/// Returns an error unless a call may begin: the communicator exists, with no call in flight and no
/// error.
ncclResult_t check_ready(ncclComm_t comm);

/// Blocking: repeats `work` while it returns ncclInProgress. Non-blocking: leaves it to
/// ncclCommGetAsyncError, but now and then runs it at once.
ncclResult_t carry_out_or_defer(ncclComm_t comm, std::function<ncclResult_t()> work);

/// Waits for the work of a communicator that was told to stop, and frees it.
void finish_abort(ncclComm_t comm);
/// Leaves that to the end of the group that is open on this thread. Returns false if there is none.
bool defer_abort(ncclComm_t comm);

/// The fault that a test injected into this operation of the device, if any. kCallFails and
/// kInitFails give their error at once. The others set `hangs`, with their error in `later`.
struct Ordered {
  ncclResult_t now = ncclSuccess;
  bool hangs = false;
  ncclResult_t later = ncclSuccess;
};
Ordered count_operation(int device);
Ordered count_init(int device);
Ordered count_abort(int device);

}  // namespace rankbox::gpu::emulation
