// Error messages of failed CUDA calls. No GPU is needed.
#include "gpu/device/check.h"

#include <string>

#include <doctest/doctest.h>

namespace rankbox::gpu {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string message_of(cudaError_t status, const Doing& doing) {
  try {
    check(status, "cudaSomething", doing);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("a call that succeeds passes") { CHECK_NOTHROW(check(cudaSuccess, "cudaFree")); }

TEST_CASE("a failure names operation, rank, peer, bytes, call, error, place and a hint") {
  const Place place = Place::current();
  const Doing doing{.op = "send", .peer = 3, .bytes = 4096, .place = place, .rank = 2};
  const std::string message = message_of(cudaErrorIllegalAddress, doing);
  CHECK(contains(message,
                 "rank 2, send, peer 3, 4096 bytes: cudaSomething failed: "
                 "cudaErrorIllegalAddress (an illegal memory access was encountered)"));
  CHECK(contains(message, "check_test.cc:" + std::to_string(place.line())));
  CHECK(contains(message, "; hint: "));
  CHECK_FALSE(contains(message, "\n"));
}

TEST_CASE("what is not known is left out") {
  const std::string message = message_of(cudaErrorInvalidValue, {});
  CHECK(message == "cudaSomething failed: cudaErrorInvalidValue (invalid argument)");
  CHECK(contains(message_of(cudaErrorInvalidValue, {.op = "barrier"}), "barrier: cudaSomething"));
}

TEST_CASE("a failure carries the same as data") {
  try {
    check(cudaErrorLaunchFailure, "cudaStreamQuery", {.op = "recv", .peer = 1, .rank = 4});
    FAIL("nothing was thrown");
  } catch (const CudaError& error) {
    CHECK(error.code() == cudaErrorLaunchFailure);
    CHECK(error.rank() == 4);
    CHECK(error.op() == "recv");
    CHECK(error.peer() == 1);
    CHECK(error.file().empty());
  }
}

TEST_CASE("memory that ran out is OutOfMemory") {
  CHECK_THROWS_AS(check(cudaErrorMemoryAllocation, "cudaMalloc"), OutOfMemory);
  CHECK(contains(message_of(cudaErrorMemoryAllocation, {.op = "allocate", .bytes = 99}),
                 "allocate, 99 bytes: cudaSomething failed: cudaErrorMemoryAllocation"));
}

TEST_CASE("errors that have a way out name it") {
  const struct {
    cudaError_t error;
    const char* hint;
  } table[] = {
      {cudaErrorNoDevice, "CUDA_VISIBLE_DEVICES"},
      {cudaErrorInsufficientDriver, "CUDA_HOME"},
      {cudaErrorStubLibrary, "driver"},
      {cudaErrorUnsupportedPtxVersion, "update the driver"},
      {cudaErrorNoKernelImageForDevice, "sm_80, sm_90"},
      {cudaErrorInvalidDevice, "LOCAL_RANK"},
      {cudaErrorMemoryAllocation, "fewer ranks per GPU"},
      {cudaErrorIllegalAddress, "compute-sanitizer"},
      {cudaErrorLaunchFailure, "compute-sanitizer"},
      {cudaErrorPeerAccessUnsupported, "nvidia-smi topo"},
      {cudaErrorSystemNotReady, "fabricmanager"},
      {cudaErrorNotSupported, "memory pools"},
  };
  for (const auto& row : table) {
    CAPTURE(cudaGetErrorName(row.error));
    CHECK(contains(message_of(row.error, {}), row.hint));
  }
}

}  // namespace
}  // namespace rankbox::gpu
