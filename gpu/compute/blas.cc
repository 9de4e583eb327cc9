#include "gpu/compute/blas.h"

#include <memory>

#include <fmt/format.h>

#include "gpu/device/device_memory.h"
#include "gpu/device_here.h"

namespace rankbox::gpu {
namespace {

constexpr std::int64_t kWorkspaceBytes = 32 << 20;  // what cuBLAS takes by itself on an H100

constexpr Doing kStart{.op = "multiply"};

class Blas {
 public:
  explicit Blas(RankDevice& gpu)
      : stream_(gpu.stream()), workspace_(allocate_on(stream_, kWorkspaceBytes)) {
    try {
      check_blas(cublasCreate(&handle_), "cublasCreate", kStart);
      check_blas(cublasSetStream(handle_, stream_), "cublasSetStream", kStart);
      check_blas(cublasSetWorkspace(handle_, workspace_, kWorkspaceBytes), "cublasSetWorkspace",
                 kStart);
    } catch (...) {
      release();
      throw;
    }
  }
  ~Blas() { release(); }
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;

  cublasHandle_t handle() const { return handle_; }

 private:
  void release() {
    if (handle_ != nullptr) static_cast<void>(cublasDestroy(handle_));
    release_on(stream_, workspace_);
  }

  cudaStream_t stream_;
  void* workspace_;
  cublasHandle_t handle_ = nullptr;
};

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
  if (gpu.library() == nullptr) {
    const auto destroy = [](void* blas) { delete static_cast<Blas*>(blas); };
    gpu.library() = RankDevice::Library(std::make_unique<Blas>(gpu).release(), destroy);
  }
  return static_cast<const Blas*>(gpu.library().get())->handle();
}

}  // namespace rankbox::gpu
