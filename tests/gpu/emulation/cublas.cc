#include <cstdint>
#include <utility>
#include <vector>

#include <cublas_v2.h>

#include "comm/bfloat16.h"
#include "comm/float16.h"
#include "tests/gpu/emulation/cuda_call.h"
#include "tests/gpu/emulation/cuda_control.h"
#include "tests/gpu/emulation/cuda_memory.h"

// NOLINTNEXTLINE: NVIDIA's name
struct cublasContext {
  cudaStream_t stream = nullptr;
  void* workspace = nullptr;
};

namespace rankbox::gpu::emulation {
namespace {

/// A matrix as BLAS has it: columns of `rows` elements, `stride` elements apart.
struct Matrix {
  const char* data;
  cudaDataType type;
  std::int64_t rows, columns, stride;
  std::int64_t step;  // elements from one matrix of the batch to the next
  bool flipped;       // what takes part in the product is its transpose

  std::int64_t element_bytes() const { return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : 2; }
  const char* at(std::int64_t i) const { return data + i * step * element_bytes(); }
  bool fits() const { return rows >= 0 && columns >= 0 && stride >= (rows > 1 ? rows : 1); }
  std::int64_t bytes() const {
    return rows == 0 || columns == 0 ? 0 : ((columns - 1) * stride + rows) * element_bytes();
  }
};

template <class T>
double element(const void* data, std::int64_t at) {
  return static_cast<double>(static_cast<const T*>(data)[at]);
}

/// The elements in the order of columns, transposed if it is flipped.
template <class T>
std::vector<T> packed(const Matrix& m, std::int64_t number) {
  const auto get = m.type == CUDA_R_64F   ? element<double>
                   : m.type == CUDA_R_32F ? element<float>
                   : m.type == CUDA_R_16F ? element<Float16>
                                          : element<BFloat16>;
  std::vector<T> all;
  all.reserve(static_cast<std::size_t>(m.rows * m.columns));
  const char* const data = m.at(number);
  const std::int64_t outer = m.flipped ? m.rows : m.columns;
  const std::int64_t inner = m.flipped ? m.columns : m.rows;
  for (std::int64_t j = 0; j < outer; ++j) {
    for (std::int64_t i = 0; i < inner; ++i)
      all.push_back(static_cast<T>(get(data, m.flipped ? i * m.stride + j : j * m.stride + i)));
  }
  return all;
}

template <class T>
void multiply(const Matrix& a, const Matrix& b, const Matrix& c, std::int64_t inner, T alpha,
              T beta, std::int64_t number) {
  const std::vector<T> left = packed<T>(a, number);
  const std::vector<T> right = packed<T>(b, number);
  T* const to = reinterpret_cast<T*>(const_cast<char*>(c.at(number)));
  std::vector<T> sums(static_cast<std::size_t>(c.rows));
  for (std::int64_t j = 0; j < c.columns; ++j) {
    sums.assign(sums.size(), T{0});
    for (std::int64_t k = 0; k < inner; ++k) {
      const T factor = right[static_cast<std::size_t>(j * inner + k)];
      const T* const column = left.data() + k * c.rows;
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += factor * column[i];
    }
    T* const column = to + j * c.stride;
    for (std::size_t i = 0; i < sums.size(); ++i)  // what is overwritten may be NaN
      column[i] = alpha * sums[i] + (beta == T{0} ? T{0} : beta * column[i]);
  }
}

bool is_reachable(int device, const Matrix& m, std::int64_t count) {
  if (m.bytes() == 0) return true;
  const auto size = static_cast<std::size_t>(m.bytes());
  return kernel_may_use(device, m.at(0)) && is_device_memory(m.at(0), size) &&
         is_device_memory(m.at(count - 1), size);
}

template <class T>
cublasStatus_t enqueue_products(cublasHandle_t handle, const Matrix& a, const Matrix& b,
                                const Matrix& c, std::int64_t inner, const void* alpha,
                                const void* beta, std::int64_t count) {
  const T scale = *static_cast<const T*>(alpha);
  const T keep = *static_cast<const T*>(beta);
  const int device = device_of(handle->stream);
  const cudaError_t status = enqueue(handle->stream, [=] {
    for (const Matrix& m : {a, b, c}) {
      if (!is_reachable(device, m, count)) return break_device(device, cudaErrorIllegalAddress);
    }
    for (std::int64_t i = 0; i < count; ++i) multiply<T>(a, b, c, inner, scale, keep, i);
  });
  return status == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace
}  // namespace rankbox::gpu::emulation

extern "C" {

// NOLINTBEGIN: the names are NVIDIA's.
const char* cublasGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "the library was not initialized";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "the resource allocation failed";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "an unsupported value or parameter was passed to the function";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "the function failed to launch on the GPU";
  }
  return "unknown";
}

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  const cudaError_t status = rankbox::gpu::emulation::call("cublasCreate", [&] {
    *handle = new cublasContext;
    return cudaSuccess;
  });
  return status == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace, size_t bytes) {
  if (!rankbox::gpu::emulation::is_device_memory(workspace, bytes))
    return CUBLAS_STATUS_INVALID_VALUE;
  handle->workspace = workspace;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                          cublasOperation_t transb, int m, int n, int k,
                                          const void* alpha, const void* A, cudaDataType Atype,
                                          int lda, long long int strideA, const void* B,
                                          cudaDataType Btype, int ldb, long long int strideB,
                                          const void* beta, void* C, cudaDataType Ctype, int ldc,
                                          long long int strideC, int batchCount,
                                          cublasComputeType_t computeType, cublasGemmAlgo_t) {
  using rankbox::gpu::emulation::Matrix;
  const bool flip_a = transa == CUBLAS_OP_T;
  const bool flip_b = transb == CUBLAS_OP_T;
  const auto from = [](const void* data) { return static_cast<const char*>(data); };
  const Matrix a{from(A), Atype, flip_a ? k : m, flip_a ? m : k, lda, strideA, flip_a};
  const Matrix b{from(B), Btype, flip_b ? n : k, flip_b ? k : n, ldb, strideB, flip_b};
  const Matrix c{from(C), Ctype, m, n, ldc, strideC, false};
  const bool in_doubles = computeType == CUBLAS_COMPUTE_64F;
  if (handle->workspace == nullptr || batchCount < 0 || !a.fits() || !b.fits() || !c.fits() ||
      Atype != Btype || (Ctype == CUDA_R_64F) != in_doubles || c.element_bytes() == 2) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const auto enqueue = in_doubles ? rankbox::gpu::emulation::enqueue_products<double>
                                  : rankbox::gpu::emulation::enqueue_products<float>;
  return enqueue(handle, a, b, c, k, alpha, beta, batchCount);
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int m, int n, int k, const void* alpha,
                            const void* A, cudaDataType Atype, int lda, const void* B,
                            cudaDataType Btype, int ldb, const void* beta, void* C,
                            cudaDataType Ctype, int ldc, cublasComputeType_t computeType,
                            cublasGemmAlgo_t algo) {
  return cublasGemmStridedBatchedEx(handle, transa, transb, m, n, k, alpha, A, Atype, lda, 0, B,
                                    Btype, ldb, 0, beta, C, Ctype, ldc, 0, 1, computeType, algo);
}

// NOLINTEND
}  // extern "C"
