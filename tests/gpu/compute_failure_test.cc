// What compute/ does on a GPU when it cannot do what it is asked for.
#include <doctest/doctest.h>

#include "comm/errors.h"
#include "compute/matrix.h"
#include "gpu/compute/blas.h"
#include "gpu/device_here.h"
#include "tests/compute/sweeps.h"
#include "tests/gpu/emulation/cuda_control.h"
#include "tests/support/thrown.h"

namespace rankbox::gpu {
namespace {

TEST_CASE("a kernel that was given an address of the host breaks the device") {
  CHECK_THROWS_AS(testing::read_from_host(), CudaError);
  emulation::break_device(0, cudaSuccess);
  CHECK(testing::squares(3) == std::vector<double>{0, 1, 4});
}

TEST_CASE("a product of matrices that are not on the device breaks it") {
  float on_host[4] = {};
  TensorOf<float> c = zeros(4);
  CHECK_THROWS_AS(multiply(MatrixOf<const float>(on_host, 2, 2),
                           MatrixOf<const float>(on_host, 2, 2), MatrixOf<float>(c.data(), 2, 2)),
                  CudaError);
  emulation::break_device(0, cudaSuccess);
}

TEST_CASE("products take one handle and one workspace, however many there are") {
  const Tensor a = full({8, 8}, 1);
  Tensor c = zeros({8, 8});
  const auto product = [&] { multiply(as_matrix(a, 8), as_matrix(a, 8), as_matrix(c, 8)); };
  product();
  const cublasHandle_t handle = blas_here();
  const std::int64_t allocations = emulation::calls_of("cudaMalloc");
  for (int i = 0; i < 20; ++i) product();
  CHECK(blas_here() == handle);
  CHECK(emulation::calls_of("cudaMalloc") == allocations);
  CHECK(to_host(c) == std::vector<float>(64, 8));
}

TEST_CASE("an error of cuBLAS names the call and what was done") {
  CHECK_THROWS_AS(check_blas(CUBLAS_STATUS_ALLOC_FAILED, "cublasCreate"), OutOfMemory);
  try {
    check_blas(CUBLAS_STATUS_EXECUTION_FAILED, "cublasGemmEx", {.op = "multiply", .rank = 3});
    FAIL("expected a BlasError");
  } catch (const BlasError& error) {
    CHECK(error.status() == CUBLAS_STATUS_EXECUTION_FAILED);
    CHECK(testing::lacks(error.what(), {"rank 3", "multiply", "cublasGemmEx"}) == "");
  }
  CHECK_NOTHROW(check_blas(CUBLAS_STATUS_SUCCESS, "cublasCreate"));
}

}  // namespace
}  // namespace rankbox::gpu
