// Errors of the emulated NCCL: their texts, and injected ones.
#include <map>
#include <mutex>
#include <string>

#include <fmt/format.h>

#include "tests/gpu/emulation/nccl_comm.h"
#include "tests/gpu/emulation/nccl_control.h"

namespace rankbox::gpu::emulation {
namespace {

struct Order {
  NcclFault fault;
  ncclResult_t error;
};

// Never destroyed: streams may still run while the process ends.
struct Errors {
  std::mutex mutex;
  std::string last;
  std::map<int, Order> orders;  // by device
};

Errors& errors() {
  static auto* const all = new Errors;
  return *all;
}

/// What may fail.
enum class Step { kInit, kOperation, kAbort };

Step step_of(NcclFault fault) {
  if (fault == NcclFault::kInitFails) return Step::kInit;
  return fault == NcclFault::kAbortHangs ? Step::kAbort : Step::kOperation;
}

Ordered take_order(int device, Step step) {
  const std::lock_guard lock(errors().mutex);
  const auto found = errors().orders.find(device);
  if (found == errors().orders.end()) return {};
  const Order ordered = found->second;
  if (step_of(ordered.fault) != step) return {};
  errors().orders.erase(found);
  switch (ordered.fault) {
    case NcclFault::kCallFails:
    case NcclFault::kInitFails:
      errors().last = fmt::format("emulated failure on device {}", device);
      return {.now = ordered.error};
    case NcclFault::kFailsLater:
      errors().last = fmt::format("emulated failure on device {}", device);
      return {.hangs = true, .later = ordered.error};
    case NcclFault::kHangs:
    case NcclFault::kAbortHangs:
      return {.hangs = true};
  }
  return {};
}

}  // namespace

ncclResult_t fail(ncclResult_t result, const std::string& text) {
  const std::lock_guard lock(errors().mutex);
  errors().last = text;
  return result;
}

void order_nccl_fault(int device, NcclFault fault, ncclResult_t error) {
  const std::lock_guard lock(errors().mutex);
  errors().orders[device] = {fault, error};
}

Ordered count_operation(int device) { return take_order(device, Step::kOperation); }
Ordered count_init(int device) { return take_order(device, Step::kInit); }
Ordered count_abort(int device) { return take_order(device, Step::kAbort); }

}  // namespace rankbox::gpu::emulation

extern "C" {

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case ncclSystemError:
      return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case ncclInternalError:
      return "internal error - please report this issue to the NCCL developers";
    case ncclInvalidArgument:
      return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case ncclInvalidUsage:
      return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    case ncclInProgress:
      return "NCCL operation in progress";
    case ncclNumResults:
      break;
  }
  return "unknown result code";
}

const char* ncclGetLastError(ncclComm_t) {
  // A separate copy for each thread: another thread may be failing right now.
  thread_local std::string copy;
  auto& all = rankbox::gpu::emulation::errors();
  const std::lock_guard lock(all.mutex);
  copy = all.last;
  return copy.c_str();
}

ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

}  // extern "C"
