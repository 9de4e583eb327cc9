// Device memory of the pools: alignment, order, what leaves its rank, and how much is reserved.
#include "gpu/device/device_memory.h"

#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "comm/errors.h"
#include "gpu/device/rank_device.h"
#include "tests/gpu/guarded_memory.h"

namespace rankbox::gpu {
namespace {

TEST_CASE("nothing is null, and less than nothing an error") {
  RankDevice gpu(0, 0);
  CHECK(gpu.allocate(0) == nullptr);
  gpu.release(nullptr);
  release_elsewhere(nullptr);
  CHECK_THROWS_AS(gpu.allocate(-1), InvalidArgument);
  CHECK_THROWS_AS(gpu.allocate(INT64_MAX), OutOfMemory);
  CHECK_THROWS_AS(gpu.allocate(std::int64_t{1} << 55), OutOfMemory);
}

TEST_CASE("blocks are aligned to 256 bytes, and apart from each other") {
  RankDevice gpu(0, 0);
  std::vector<char*> blocks;
  for (const std::int64_t bytes : {1, 255, 256, 1000, 5, 100000})
    blocks.push_back(static_cast<char*>(gpu.allocate(bytes)));
  for (char* const block : blocks) {
    CHECK(reinterpret_cast<std::uintptr_t>(block) % 256 == 0);
    check(cudaMemsetAsync(block, 7, 1, gpu.stream()), "set");
    for (char* const other : blocks) CHECK((block == other || std::abs(block - other) >= 256));
    gpu.release(block);
  }
}

TEST_CASE("what was enqueued before a release is done before the memory's next use") {
  RankDevice gpu(0, 0);
  const std::vector<int> ones(100000, 1);
  for (int round = 0; round < 20; ++round) {
    auto* const a = static_cast<int*>(gpu.allocate(400000));
    upload(gpu, a, ones);
    auto* const sum = static_cast<int*>(gpu.allocate(400000));
    check(cudaMemcpyAsync(sum, a, 400000, cudaMemcpyDeviceToDevice, gpu.stream()), "copy");
    gpu.release(a);
    auto* const b = static_cast<int*>(gpu.allocate(400000));
    check(cudaMemsetAsync(b, 0, 400000, gpu.stream()), "set");
    CHECK(download(gpu, sum, ones.size()) == ones);
    gpu.release(b);
    gpu.release(sum);
  }
}

TEST_CASE("a block outlives its rank, and another thread releases it") {
  void* block = nullptr;
  {
    RankDevice gpu(0, 0);
    block = gpu.allocate(1 << 20);
  }
  check(cudaMemset(block, 0, 1 << 20), "cudaMemset");
  std::thread([block] { release_elsewhere(block); }).join();
  // A rank that has used it releases it after its work.
  RankDevice gpu(1, 0);
  void* const other = gpu.allocate(1 << 20);
  check(cudaMemsetAsync(other, 0, 1 << 20, gpu.stream()), "set");
  release_elsewhere(other);
  CHECK_NOTHROW(gpu.synchronize(30));
}

TEST_CASE("a rank reserves what the variable says, or its share of half the free memory") {
  constexpr const char* kVariable = "RANKBOX_GPU_POOL_MIB";
  constexpr std::int64_t kMiB = 1 << 20;
  const char* const before = std::getenv(kVariable);
  setenv(kVariable, "3", 1);
  CHECK(bytes_to_reserve(1, 1) == 3 * kMiB);
  CHECK(bytes_to_reserve(4, 8) == 12 * kMiB);
  setenv(kVariable, "3G", 1);
  CHECK_THROWS_WITH_AS(bytes_to_reserve(1, 1), doctest::Contains("RANKBOX_GPU_POOL_MIB='3G'"),
                       InvalidArgument);
  unsetenv(kVariable);
  const std::int64_t alone = bytes_to_reserve(1, 1);
  CHECK(alone > 0);
  CHECK(alone <= 8192 * kMiB);
  CHECK(bytes_to_reserve(1, 64) <= alone);
  if (before != nullptr) setenv(kVariable, before, 1);
}

}  // namespace
}  // namespace rankbox::gpu
