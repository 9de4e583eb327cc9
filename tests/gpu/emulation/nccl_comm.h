// What a communicator of the emulated NCCL is, and what its functions share.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <nccl.h>

#include "tests/gpu/emulation/nccl_clique.h"

/// Belongs to one thread at a time, but for what is shared by pointer.
struct ncclComm {
  std::shared_ptr<rankbox::gpu::emulation::Clique> clique;
  int rank = -1;
  int device = -1;
  bool blocking = true;
  std::shared_ptr<std::atomic<bool>> aborted = std::make_shared<std::atomic<bool>>(false);
  std::uint64_t collectives = 0;  // called so far
  std::uint64_t splits = 0;
  cudaEvent_t latest = nullptr;  // recorded behind its newest kernel
  bool finalized = false;

  // Non-blocking: what a call still has to do. ncclCommGetAsyncError carries it out once it was
  // asked `looks` times, and again as long as it returns ncclInProgress.
  std::function<ncclResult_t()> pending;
  int looks = 0;
  ncclResult_t async_error = ncclSuccess;
};

namespace rankbox::gpu::emulation {

/// Remembers the text for ncclGetLastError, and returns the result.
ncclResult_t fail(ncclResult_t result, const std::string& text);

/// Whether a call may begin: the communicator exists, and has no call under way and no error.
ncclResult_t check_ready(ncclComm_t comm);

/// Blocking: repeats `work` until it is not ncclInProgress. Non-blocking: leaves it to
/// ncclCommGetAsyncError, but now and then does it at once.
ncclResult_t carry_out_or_defer(ncclComm_t comm, std::function<ncclResult_t()> work);

/// What a test ordered for this operation of the device, if anything: the error of kCallFails or
/// kInitFails at once; true in `hangs` for the others, with their error in `later`.
struct Ordered {
  ncclResult_t now = ncclSuccess;
  bool hangs = false;
  ncclResult_t later = ncclSuccess;
};
Ordered count_operation(int device);
Ordered count_init(int device);

}  // namespace rankbox::gpu::emulation
