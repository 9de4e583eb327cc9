// The caching allocator: rounding, keeping, reuse and release.
#include "gpu/device/device_memory.h"

#include <algorithm>
#include <cstdint>

#include <doctest/doctest.h>

#include "comm/errors.h"
#include "gpu/device/rank_device.h"
#include "tests/gpu/guarded_memory.h"

namespace rankbox::gpu {
namespace {

TEST_CASE("requests are rounded up by at most an eighth, or to 256 bytes") {
  std::int64_t before = 0;
  for (std::int64_t bytes = 1; bytes < (std::int64_t{1} << 40); bytes += 1 + bytes / 7) {
    CAPTURE(bytes);
    const std::int64_t rounded = size_class(bytes);
    CHECK(rounded >= bytes);
    CHECK(rounded - bytes < std::max<std::int64_t>(256, bytes / 8 + 1));
    CHECK(rounded % 256 == 0);
    CHECK(size_class(rounded) == rounded);
    CHECK(rounded >= before);
    before = rounded;
  }
}

TEST_CASE("a released block is given out again; cudaMalloc is called once for each at most") {
  RankDevice gpu(0, 0);
  void* const first = gpu.allocate(1000);
  void* const second = gpu.allocate(1000);
  CHECK(first != second);
  CHECK(reinterpret_cast<std::uintptr_t>(first) % 256 == 0);
  CHECK(gpu.memory().device_allocations() == 2);
  gpu.release(first);
  CHECK(gpu.allocate(1020) == first);  // of the same class
  gpu.release(first);
  gpu.release(second);
  for (int i = 0; i < 10; ++i) {
    void* const a = gpu.allocate(1000);
    void* const b = gpu.allocate(999);
    gpu.release(a);
    gpu.release(b);
  }
  CHECK(gpu.memory().device_allocations() == 2);
  void* const other = gpu.allocate(4000);  // of another class
  CHECK(gpu.memory().device_allocations() == 3);
  gpu.release(other);
}

TEST_CASE("bytes are counted as they are rounded") {
  RankDevice gpu(0, 0);
  void* const block = gpu.allocate(100);
  CHECK(gpu.memory().bytes_in_use() == 256);
  CHECK(gpu.memory().bytes_kept() == 0);
  gpu.release(block);
  CHECK(gpu.memory().bytes_in_use() == 0);
  CHECK(gpu.memory().bytes_kept() == 256);
  CHECK(gpu.memory().trim());
  CHECK(gpu.memory().bytes_kept() == 0);
}

TEST_CASE("nothing is null, and less than nothing an error") {
  RankDevice gpu(0, 0);
  CHECK(gpu.allocate(0) == nullptr);
  gpu.release(nullptr);
  CHECK_THROWS_AS(gpu.allocate(-1), InvalidArgument);
  CHECK_THROWS_AS(gpu.allocate(INT64_MAX), OutOfMemory);
  CHECK_THROWS_AS(gpu.allocate(std::int64_t{1} << 55), OutOfMemory);
  CHECK(gpu.memory().device_allocations() == 0);
}

TEST_CASE("what was enqueued before a release is done before the block's next use") {
  RankDevice gpu(0, 0);
  const std::vector<int> ones(100000, 1);
  for (int round = 0; round < 20; ++round) {
    auto* const a = static_cast<int*>(gpu.allocate(400000));
    upload(gpu, a, ones);
    auto* const sum = static_cast<int*>(gpu.allocate(400000));
    check(cudaMemcpyAsync(sum, a, 400000, cudaMemcpyDeviceToDevice, gpu.stream()), "copy");
    gpu.release(a);
    auto* const b = static_cast<int*>(gpu.allocate(400000));
    CHECK(b == a);
    check(cudaMemsetAsync(b, 0, 400000, gpu.stream()), "set");
    CHECK(download(gpu, sum, ones.size()) == ones);
    gpu.release(b);
    gpu.release(sum);
  }
}

TEST_CASE("a block outlives its allocator, and is freed by whoever has it") {
  void* block = nullptr;
  {
    RankDevice gpu(0, 0);
    block = gpu.allocate(1 << 20);
  }
  RankDevice gpu(1, 0);
  check(cudaMemset(block, 0, 1 << 20), "cudaMemset");
  gpu.release(block);  // another allocator's
  CHECK(gpu.memory().bytes_kept() == 0);
  CHECK(cudaFree(block) == cudaErrorInvalidValue);
  cudaGetLastError();
}

}  // namespace
}  // namespace rankbox::gpu
