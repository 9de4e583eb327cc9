// cuBLAS, with one handle per rank.
//
// The handle works on the rank's stream, in a workspace that is allocated once. Products of floats
// are computed in 32 bits: TF32 is off, unless NVIDIA_TF32_OVERRIDE=1 says otherwise.
//
// Thread safety: belongs to the rank's thread. Errors: BlasError, OutOfMemory.
#pragma once

#include <string>
#include <utility>

#include <cublas_v2.h>

#include "gpu/device/check.h"

namespace rankbox::gpu {

/// A cuBLAS call failed. Running out of memory is OutOfMemory instead.
class BlasError : public Error {
 public:
  BlasError(const std::string& message, ErrorContext context, cublasStatus_t status)
      : Error(message, std::move(context)), status_(status) {}

  cublasStatus_t status() const { return status_; }

 private:
  cublasStatus_t status_;
};

/// @param call its name, "cublasGemmEx"
void check_blas(cublasStatus_t status, const char* call, const Doing& doing = {});

/// Returns the handle of this thread's device (device_here()). The first call creates it: over NCCL
/// at the start of the rank (start_hooks()).
cublasHandle_t blas_here();

}  // namespace rankbox::gpu
