// Matrix products on the rank's stream, by cuBLAS.
#include <type_traits>

#include "compute/autocast.h"
#include "compute/matrix.h"
#include "compute/matrix_checks.h"
#include "gpu/compute/blas.h"
#include "gpu/compute/round_factors.h"
#include "gpu/device_here.h"

namespace rankbox {
namespace {

template <class T>
constexpr cudaDataType kType = std::is_same_v<T, double>    ? CUDA_R_64F
                               : std::is_same_v<T, float>   ? CUDA_R_32F
                               : std::is_same_v<T, Float16> ? CUDA_R_16F
                                                            : CUDA_R_16BF;

/// cuBLAS stores matrices by columns, and we by rows. So it reads the transpose of each of ours,
/// and computes cᵀ = bᵀ aᵀ.
template <class From, class To>
void multiply_on_gpu(std::int64_t count, const MatricesOf<const From>& as,
                     const MatricesOf<const From>& bs, const MatricesOf<To>& cs, Into into) {
  const MatrixOf<const From>& a = as.first;
  const MatrixOf<const From>& b = bs.first;
  const MatrixOf<To>& c = cs.first;
  check_product(a, b, c);
  if (count == 0 || c.rows == 0 || c.columns == 0) return;
  const auto flag = [](const auto& m) { return m.is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
  const auto whole = [](std::int64_t size) { return static_cast<int>(size); };
  const auto stride = [&](const auto& m) { return whole(m.stride > 0 ? m.stride : 1); };
  const To one{1}, beta{into == Into::kAdd ? To{1} : To{0}};
  constexpr auto kCompute = std::is_same_v<To, double> ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
  const gpu::Doing doing{.op = "multiply",
                         .bytes = count * c.rows * c.columns * std::int64_t{sizeof(To)}};
  gpu::device_here().before_work(doing);
  cublasHandle_t const blas = gpu::blas_here();
  if (count == 1) {
    gpu::check_blas(
        cublasGemmEx(blas, flag(b), flag(a), whole(c.columns), whole(c.rows), whole(a.columns),
                     &one, b.data, kType<From>, stride(b), a.data, kType<From>, stride(a), &beta,
                     c.data, kType<To>, stride(c), kCompute, CUBLAS_GEMM_DEFAULT),
        "cublasGemmEx", doing);
  } else {
    gpu::check_blas(
        cublasGemmStridedBatchedEx(
            blas, flag(b), flag(a), whole(c.columns), whole(c.rows), whole(a.columns), &one, b.data,
            kType<From>, stride(b), bs.step, a.data, kType<From>, stride(a), as.step, &beta, c.data,
            kType<To>, stride(c), cs.step, whole(count), kCompute, CUBLAS_GEMM_DEFAULT),
        "cublasGemmStridedBatchedEx", doing);
  }
  gpu::settle_here(doing);
}

template <class T>
void multiply_rounded(std::int64_t count, const MatricesOf<const float>& a,
                      const MatricesOf<const float>& b, const MatricesOf<float>& c, Into into) {
  TensorOf<T> of_a, of_b;
  multiply_on_gpu<T, float>(count, gpu::round_factors(count, a, of_a),
                            gpu::round_factors(count, b, of_b), c, into);
}

void multiply_floats(std::int64_t count, const MatricesOf<const float>& a,
                     const MatricesOf<const float>& b, const MatricesOf<float>& c, Into into) {
  switch (Autocast::type()) {
    case DType::kFloat16:
      return multiply_rounded<Float16>(count, a, b, c, into);
    case DType::kBFloat16:
      return multiply_rounded<BFloat16>(count, a, b, c, into);
    default:
      return multiply_on_gpu<float, float>(count, a, b, c, into);
  }
}

}  // namespace

void multiply(MatrixOf<const float> a, MatrixOf<const float> b, MatrixOf<float> c, Into into) {
  multiply_floats(1, {a}, {b}, {c}, into);
}

void multiply(MatrixOf<const double> a, MatrixOf<const double> b, MatrixOf<double> c, Into into) {
  multiply_on_gpu<double, double>(1, {a}, {b}, {c}, into);
}

void multiply(MatrixOf<const Float16> a, MatrixOf<const Float16> b, MatrixOf<float> c, Into into) {
  multiply_on_gpu<Float16, float>(1, {a}, {b}, {c}, into);
}

void multiply(MatrixOf<const BFloat16> a, MatrixOf<const BFloat16> b, MatrixOf<float> c,
              Into into) {
  multiply_on_gpu<BFloat16, float>(1, {a}, {b}, {c}, into);
}

void multiply(std::int64_t count, MatricesOf<const float> a, MatricesOf<const float> b,
              MatricesOf<float> c) {
  multiply_floats(count, a, b, c, Into::kOverwrite);
}

void multiply(std::int64_t count, MatricesOf<const double> a, MatricesOf<const double> b,
              MatricesOf<double> c) {
  multiply_on_gpu<double, double>(count, a, b, c, Into::kOverwrite);
}

}  // namespace rankbox
