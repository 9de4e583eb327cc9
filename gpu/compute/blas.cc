#include "gpu/compute/blas.h"

#include <fmt/format.h>

#include "gpu/device/device_memory.h"
#include "gpu/device_here.h"

namespace rankbox::gpu {
namespace {

constexpr std::int64_t kWorkspaceBytes = 32 << 20;  // what cuBLAS takes by itself on an H100

constexpr Doing kStart{.op = "multiply"};

cublasHandle_t make_handle(cudaStream_t stream) {
  cublasHandle_t handle = nullptr;
  void* const workspace = allocate_on(stream, kWorkspaceBytes);
  try {
    check_blas(cublasCreate(&handle), "cublasCreate", kStart);
    check_blas(cublasSetStream(handle, stream), "cublasSetStream", kStart);
    check_blas(cublasSetWorkspace(handle, workspace, kWorkspaceBytes), "cublasSetWorkspace",
               kStart);
  } catch (...) {
    if (handle != nullptr) static_cast<void>(cublasDestroy(handle));
    release_on(stream, workspace);
    throw;
  }
  return handle;
}

// cublasCreate allocates device memory and loads code: too late once ranks communicate.
[[maybe_unused]] const bool kAtStart = [] {
  start_hooks().push_back([] { static_cast<void>(blas_here()); });
  return true;
}();

}  // namespace

void check_blas(cublasStatus_t status, const char* call, const Doing& doing) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const std::string message = fmt::format("{}{} failed: {}{}", in_words(doing), call,
                                          cublasGetStatusString(status), place_in_words(doing));
  if (status == CUBLAS_STATUS_ALLOC_FAILED) throw OutOfMemory(message, context_of(doing));
  throw BlasError(message, context_of(doing), status);
}

cublasHandle_t blas_here() {
  RankDevice& gpu = device_here();
  if (gpu.library() == nullptr) gpu.library() = make_handle(gpu.stream());
  return static_cast<cublasHandle_t>(gpu.library());
}

}  // namespace rankbox::gpu
