// The emulated devices: their number and their failures.
#include <string>

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include "tests/gpu/emulation/cuda_control.h"

namespace rankbox::gpu::emulation {
namespace {

__global__ void increment(int* value) { *value += 1; }

cudaError_t launch_increment(int* value, cudaStream_t stream) {
  cudaLaunchConfig_t config{};
  config.stream = stream;
  return cudaLaunchKernelEx(&config, increment, value);
}

TEST_CASE("without a device every call says so") {
  set_device_count(0);
  int count = -1;
  void* block = nullptr;
  cudaStream_t stream = nullptr;
  CHECK(cudaGetDeviceCount(&count) == cudaErrorNoDevice);
  CHECK(cudaSetDevice(0) == cudaErrorNoDevice);
  CHECK(cudaMalloc(&block, 1) == cudaErrorNoDevice);
  CHECK(cudaStreamCreateWithFlags(&stream, 0) == cudaErrorNoDevice);
  CHECK(cudaDriverGetVersion(&count) == cudaSuccess);
  set_device_count(1);
  cudaGetLastError();
}

TEST_CASE("devices are numbered, and each has its own bus") {
  set_device_count(3);
  int count = 0;
  CHECK(cudaGetDeviceCount(&count) == cudaSuccess);
  CHECK(count == 3);
  CHECK(cudaSetDevice(3) == cudaErrorInvalidDevice);
  CHECK(cudaSetDevice(-1) == cudaErrorInvalidDevice);
  CHECK(cudaSetDevice(2) == cudaSuccess);
  int here = -1;
  CHECK(cudaGetDevice(&here) == cudaSuccess);
  CHECK(here == 2);
  char first[16];
  char second[16];
  CHECK(cudaDeviceGetPCIBusId(first, sizeof first, 0) == cudaSuccess);
  CHECK(cudaDeviceGetPCIBusId(second, sizeof second, 1) == cudaSuccess);
  CHECK(std::string(first) == "0000:01:00.0");
  CHECK(std::string(first) != second);
  cudaSetDevice(0);
  cudaGetLastError();
}

TEST_CASE("a kernel may use another device's memory only with peer access") {
  set_device_count(2);
  cudaSetDevice(1);
  int* there = nullptr;
  REQUIRE(cudaMalloc(reinterpret_cast<void**>(&there), sizeof(int)) == cudaSuccess);
  cudaSetDevice(0);
  int possible = 0;
  CHECK(cudaDeviceCanAccessPeer(&possible, 0, 1) == cudaSuccess);
  CHECK(possible == 1);
  CHECK(launch_increment(there, nullptr) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  break_device(0, cudaSuccess);
  CHECK(cudaDeviceEnablePeerAccess(1, 0) == cudaSuccess);
  CHECK(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorPeerAccessAlreadyEnabled);
  CHECK(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorInvalidDevice);
  CHECK(launch_increment(there, nullptr) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  set_peer_access(false);
  CHECK(cudaDeviceCanAccessPeer(&possible, 0, 1) == cudaSuccess);
  CHECK(possible == 0);
  CHECK(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorPeerAccessUnsupported);
  set_peer_access(true);
  cudaFree(there);
  cudaGetLastError();
}

TEST_CASE("streams and events belong to one device") {
  set_device_count(2);
  cudaSetDevice(0);
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaSetDevice(1);
  cudaEvent_t event = nullptr;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  CHECK(cudaEventRecord(event, stream) == cudaErrorInvalidResourceHandle);
  CHECK(launch_increment(nullptr, stream) == cudaErrorInvalidResourceHandle);
  cudaEventRecord(event, nullptr);
  CHECK(cudaStreamWaitEvent(stream, event, 0) == cudaSuccess);  // across devices
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  cudaEventDestroy(event);
  cudaStreamDestroy(stream);
  cudaSetDevice(0);
  cudaGetLastError();
}

TEST_CASE("a test lets a call fail, once, after so many that succeed") {
  void* block = nullptr;
  fail_next("cudaMalloc", cudaErrorMemoryAllocation, 1);
  CHECK(cudaMalloc(&block, 16) == cudaSuccess);
  CHECK(cudaFree(block) == cudaSuccess);
  CHECK(cudaMalloc(&block, 16) == cudaErrorMemoryAllocation);
  CHECK(cudaPeekAtLastError() == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(cudaMalloc(&block, 16) == cudaSuccess);
  cudaFree(block);
  fail_next("cudaMalloc", cudaErrorUnknown);
  fail_next("cudaMalloc", cudaSuccess);
  const std::int64_t before = calls_of("cudaMalloc");
  CHECK(cudaMalloc(&block, 16) == cudaSuccess);
  CHECK(calls_of("cudaMalloc") == before + 1);
  cudaFree(block);
}

TEST_CASE("a kernel that is given host memory breaks the device for all later calls") {
  int host = 0;
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  CHECK(launch_increment(&host, stream) == cudaSuccess);  // asynchronous: not known yet
  CHECK(cudaStreamSynchronize(stream) == cudaErrorIllegalAddress);
  void* block = nullptr;
  CHECK(cudaMalloc(&block, 16) == cudaErrorIllegalAddress);
  CHECK(cudaStreamQuery(stream) == cudaErrorIllegalAddress);
  CHECK(host == 0);
  break_device(0, cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  cudaGetLastError();
}

TEST_CASE("a stream that waits for a broken device's event is let go") {
  set_device_count(2);
  cudaStream_t healthy = nullptr;
  cudaStreamCreateWithFlags(&healthy, cudaStreamNonBlocking);
  cudaSetDevice(1);
  cudaStream_t broken = nullptr;
  cudaEvent_t event = nullptr;
  cudaStreamCreateWithFlags(&broken, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  int host = 0;
  launch_increment(&host, broken);
  cudaEventRecord(event, broken);
  cudaSetDevice(0);
  CHECK(cudaStreamWaitEvent(healthy, event, 0) == cudaSuccess);
  CHECK(cudaStreamSynchronize(healthy) == cudaSuccess);
  CHECK(cudaStreamSynchronize(broken) == cudaErrorIllegalAddress);
  break_device(1, cudaSuccess);
  cudaEventDestroy(event);
  cudaStreamDestroy(broken);
  cudaStreamDestroy(healthy);
  cudaGetLastError();
}

TEST_CASE("errors have CUDA's names") {
  CHECK(std::string(cudaGetErrorName(cudaErrorIllegalAddress)) == "cudaErrorIllegalAddress");
  CHECK(std::string(cudaGetErrorString(cudaErrorMemoryAllocation)) == "out of memory");
  CHECK(std::string(cudaGetErrorName(static_cast<cudaError_t>(998))) == "unrecognized error code");
}

}  // namespace
}  // namespace rankbox::gpu::emulation
