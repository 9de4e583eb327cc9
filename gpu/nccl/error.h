// Errors of NCCL calls: the rank's operation, NCCL's message, and a hint.
//
//   rank 1, all_reduce, 4096 bytes: ncclAllReduce failed: ncclRemoteError (remote process exited or
//   there was a network error), "socket connection closed" [step.cc:12]; hint: ...
#pragma once

#include <string>
#include <string_view>

#include <nccl.h>

#include "comm/errors.h"
#include "gpu/device/check.h"

namespace rankbox::gpu {

class NcclError : public Error {
 public:
  NcclError(const std::string& message, ErrorContext context, ncclResult_t code)
      : Error(message, std::move(context)), code_(code) {}

  ncclResult_t code() const { return code_; }

 private:
  ncclResult_t code_;
};

/// Returns "ncclInvalidUsage".
const char* name_of(ncclResult_t result);

/// Returns the fix for an error.
/// @param said the text of ncclGetLastError
std::string hint_for(ncclResult_t result, std::string_view said);

/// Returns the error of a call whose result is `result`, at once or later.
/// @param call its name, "ncclSend"
/// @param comm may be null
NcclError nccl_error(ncclResult_t result, const char* call, const Doing& doing, ncclComm_t comm);

/// Throws unless the result is ncclSuccess. For calls without a communicator.
void check_nccl(ncclResult_t result, const char* call, const Doing& doing = {});

}  // namespace rankbox::gpu
