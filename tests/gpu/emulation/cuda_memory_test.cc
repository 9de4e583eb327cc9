// The emulated memory and copies: valid uses and errors.
#include <cmath>
#include <cstdint>
#include <vector>

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include "tests/gpu/emulation/cuda_control.h"

namespace rankbox::gpu::emulation {
namespace {

void* device_block(std::size_t bytes) {
  void* block = nullptr;
  REQUIRE(cudaMalloc(&block, bytes) == cudaSuccess);
  return block;
}

/// Returns a call's error and clears the last error.
cudaError_t taken(cudaError_t result) {
  CHECK(cudaGetLastError() == result);
  return result;
}

TEST_CASE("fresh memory is NaN, and -1") {
  void* const block = device_block(64);
  std::vector<float> floats(16);
  REQUIRE(cudaMemcpy(floats.data(), block, 64, cudaMemcpyDeviceToHost) == cudaSuccess);
  for (const float x : floats) CHECK(std::isnan(x));
  std::vector<std::int64_t> integers(8);
  REQUIRE(cudaMemcpy(integers.data(), block, 64, cudaMemcpyDeviceToHost) == cudaSuccess);
  for (const std::int64_t x : integers) CHECK(x == -1);
  cudaFree(block);
}

TEST_CASE("memory is freed once, at its beginning, and by its own function") {
  char* const block = static_cast<char*>(device_block(64));
  CHECK(taken(cudaFree(block + 16)) == cudaErrorInvalidValue);
  CHECK(taken(cudaFreeHost(block)) == cudaErrorInvalidValue);
  CHECK(cudaFree(block) == cudaSuccess);
  CHECK(taken(cudaFree(block)) == cudaErrorInvalidValue);
  CHECK(cudaFree(nullptr) == cudaSuccess);
  int host = 0;
  CHECK(taken(cudaFree(&host)) == cudaErrorInvalidValue);

  void* pinned = nullptr;
  REQUIRE(cudaMallocHost(&pinned, 64) == cudaSuccess);
  CHECK(taken(cudaFree(pinned)) == cudaErrorInvalidValue);
  CHECK(cudaFreeHost(pinned) == cudaSuccess);
}

TEST_CASE("copies: the kind must fit the pointers, and the bytes their blocks") {
  char* const block = static_cast<char*>(device_block(64));
  char* const other = static_cast<char*>(device_block(32));
  std::vector<char> host(64, 'x');
  const struct {
    void* to;
    const void* from;
    std::size_t bytes;
    cudaMemcpyKind kind;
    cudaError_t result;
  } table[] = {
      {block, host.data(), 64, cudaMemcpyHostToDevice, cudaSuccess},
      {host.data(), block, 64, cudaMemcpyDeviceToHost, cudaSuccess},
      {block, other, 32, cudaMemcpyDeviceToDevice, cudaSuccess},
      {block, host.data(), 64, cudaMemcpyDefault, cudaSuccess},
      {block + 60, host.data(), 4, cudaMemcpyHostToDevice, cudaSuccess},
      {block, host.data(), 0, cudaMemcpyHostToDevice, cudaSuccess},
      {host.data(), host.data() + 32, 32, cudaMemcpyHostToHost, cudaSuccess},
      {block + 60, host.data(), 5, cudaMemcpyHostToDevice, cudaErrorInvalidValue},
      {block, other, 33, cudaMemcpyDeviceToDevice, cudaErrorInvalidValue},
      {host.data(), block + 1, 64, cudaMemcpyDeviceToHost, cudaErrorInvalidValue},
      {host.data(), host.data() + 32, 32, cudaMemcpyHostToDevice, cudaErrorInvalidValue},
      {block, other, 32, cudaMemcpyDeviceToHost, cudaErrorInvalidValue},
      {block, other, 32, cudaMemcpyHostToDevice, cudaErrorInvalidValue},
      {host.data(), block, 32, cudaMemcpyDeviceToDevice, cudaErrorInvalidValue},
  };
  for (const auto& row : table) {
    const auto index = &row - table;
    CAPTURE(index);
    CHECK(taken(cudaMemcpy(row.to, row.from, row.bytes, row.kind)) == row.result);
  }
  CHECK(taken(cudaMemset(block, 0, 65)) == cudaErrorInvalidValue);
  CHECK(taken(cudaMemset(host.data(), 0, 1)) == cudaErrorInvalidValue);
  cudaFree(block);
  cudaFree(other);
}

TEST_CASE("a copy from ordinary host memory has read it when the call returns") {
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  void* const block = device_block(sizeof(int));
  int host = 1;
  delay_streams(7);
  REQUIRE(cudaMemcpyAsync(block, &host, sizeof host, cudaMemcpyHostToDevice, stream) ==
          cudaSuccess);
  host = 2;
  int seen = 0;
  REQUIRE(cudaMemcpyAsync(&seen, block, sizeof seen, cudaMemcpyDeviceToHost, stream) ==
          cudaSuccess);
  CHECK(seen == 1);
  delay_streams(0);
  cudaFree(block);
  cudaStreamDestroy(stream);
}

TEST_CASE("memory runs out, and comes back") {
  const MemoryInUse before = memory_in_use();
  set_device_memory(1 << 20);
  void* const most = device_block(1 << 19);
  void* more = nullptr;
  CHECK(taken(cudaMalloc(&more, (1 << 19) + 1)) == cudaErrorMemoryAllocation);
  CHECK(more == nullptr);
  std::size_t free = 0;
  std::size_t total = 0;
  CHECK(cudaMemGetInfo(&free, &total) == cudaSuccess);
  CHECK(free == 1 << 19);
  CHECK(total == 1 << 20);
  CHECK(memory_in_use().bytes - before.bytes == 1 << 19);
  cudaFree(most);
  CHECK(cudaMalloc(&more, 1 << 20) == cudaSuccess);
  cudaFree(more);
  CHECK(memory_in_use().allocations == before.allocations);
  set_device_memory(std::size_t{4} << 30);
}

TEST_CASE("pointers tell what they are") {
  char* const block = static_cast<char*>(device_block(64));
  void* pinned = nullptr;
  REQUIRE(cudaMallocHost(&pinned, 64) == cudaSuccess);
  int host = 0;
  const auto type_of = [](const void* pointer) {
    cudaPointerAttributes attributes{};
    CHECK(cudaPointerGetAttributes(&attributes, pointer) == cudaSuccess);
    return attributes.type;
  };
  CHECK(type_of(block + 63) == cudaMemoryTypeDevice);
  CHECK(type_of(pinned) == cudaMemoryTypeHost);
  CHECK(type_of(&host) == cudaMemoryTypeUnregistered);
  CHECK(is_device_memory(block, 64));
  CHECK_FALSE(is_device_memory(block, 65));
  CHECK_FALSE(is_device_memory(&host, 1));
  cudaFree(block);
  cudaFreeHost(pinned);
}

TEST_CASE("cudaFree waits for what may still use the block") {
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  void* const block = device_block(1 << 16);
  delay_streams(3);
  for (int i = 0; i < 20; ++i) cudaMemsetAsync(block, i, 1 << 16, stream);
  CHECK(cudaFree(block) == cudaSuccess);
  CHECK(cudaStreamQuery(stream) == cudaSuccess);
  delay_streams(0);
  cudaStreamDestroy(stream);
}

}  // namespace
}  // namespace rankbox::gpu::emulation
