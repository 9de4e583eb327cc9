// A rank's arena: which ranges it gives out, and when its block goes back.
#include "gpu/device/arena.h"

#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include "comm/errors.h"
#include "gpu/device/rank_device.h"

namespace rankbox::gpu {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

/// Returns whether the address is in memory that cudaMalloc returned and cudaFree has not freed.
bool is_allocated(void* address) {
  cudaPointerAttributes attributes = {};
  const cudaError_t status = cudaPointerGetAttributes(&attributes, address);
  cudaGetLastError();
  return status == cudaSuccess && attributes.type == cudaMemoryTypeDevice;
}

TEST_CASE("ranges are aligned, apart, and fill the block to its end") {
  const auto arena = Arena::make(kMiB);
  REQUIRE(arena != nullptr);
  CHECK(arena->bytes() == kMiB);
  auto* const first = static_cast<char*>(arena->take(1));
  CHECK(reinterpret_cast<std::uintptr_t>(first) % 256 == 0);
  CHECK(arena->take(257) == first + 256);
  CHECK(arena->take(kMiB - 768) == first + 768);
  CHECK(arena->take(1) == nullptr);
}

TEST_CASE("the smallest range that fits is taken, and free neighbours merge") {
  const auto arena = Arena::make(kMiB);
  std::vector<char*> ranges;
  for (const std::int64_t bytes : {512, 256, 1024, 256, 512, 256})
    ranges.push_back(static_cast<char*>(arena->take(bytes)));
  for (const int i : {0, 2, 4}) CHECK(arena->release(ranges[static_cast<std::size_t>(i)]));
  CHECK(arena->take(600) == ranges[2]);
  CHECK(arena->take(512) == ranges[0]);
  CHECK(arena->take(512) == ranges[4]);
  for (const int i : {1, 3, 5, 0, 4, 2}) CHECK(arena->release(ranges[static_cast<std::size_t>(i)]));
  CHECK(arena->take(kMiB) == ranges[0]);
}

TEST_CASE("ranges taken and released at random never overlap, and all of the block returns") {
  const auto arena = Arena::make(kMiB);
  std::mt19937 random(1);
  std::map<char*, std::int64_t> used;
  for (int step = 0; step < 5000; ++step) {
    if (random() % 2 == 0 || used.empty()) {
      const std::int64_t bytes = 1 + static_cast<std::int64_t>(random() % 20000);
      auto* const range = static_cast<char*>(arena->take(bytes));
      if (range == nullptr) continue;
      const auto place = used.emplace(range, bytes).first;
      if (place != used.begin()) {
        const auto before = std::prev(place);
        REQUIRE(before->first + before->second <= range);
      }
      if (std::next(place) != used.end()) REQUIRE(range + bytes <= std::next(place)->first);
    } else {
      const auto one = std::next(used.begin(), static_cast<std::ptrdiff_t>(random() % used.size()));
      REQUIRE(arena->release(one->first));
      used.erase(one);
    }
  }
  for (const auto& [range, bytes] : used) arena->release(range);
  CHECK(arena->take(kMiB) != nullptr);
}

TEST_CASE("foreign memory is refused") {
  const auto arena = Arena::make(kMiB);
  const auto other = Arena::make(kMiB);
  CHECK_FALSE(arena->release(other->take(100)));
  int on_the_stack = 0;
  CHECK_FALSE(Arena::release_elsewhere(&on_the_stack));
  void* const end = static_cast<char*>(arena->take(kMiB)) + kMiB;
  if (!is_allocated(end)) CHECK_FALSE(Arena::release_elsewhere(end));
}

TEST_CASE("what is not there is halved, and less than 1 MiB is no arena") {
  CHECK(Arena::make(0) == nullptr);
  CHECK(Arena::make(kMiB - 1) == nullptr);
  const auto arena = Arena::make(std::int64_t{1} << 50);
  REQUIRE(arena != nullptr);
  CHECK(arena->bytes() >= kMiB);
}

TEST_CASE("the block goes back with its owner, or with the last range after it") {
  struct Row {
    const char* name;
    bool first_elsewhere, second_elsewhere;  // released by another thread while the owner lives
    bool second_later;                       // released after the owner's end
  };
  const Row rows[] = {
      {"all by the owner", false, false, false},       {"one elsewhere", true, false, false},
      {"both elsewhere", true, true, false},           {"one later", false, false, true},
      {"one elsewhere, one later", true, false, true},
  };
  for (const Row& row : rows) {
    const std::string name = row.name;
    CAPTURE(name);
    auto arena = Arena::make(kMiB);
    void* const first = arena->take(1000);
    void* const second = arena->take(1000);
    const auto elsewhere = [](void* range) {
      std::jthread([range] { Arena::release_elsewhere(range); }).join();
    };
    row.first_elsewhere ? elsewhere(first) : static_cast<void>(arena->release(first));
    // Another thread may still use what it released.
    CHECK((arena->take(1000) == first) != row.first_elsewhere);
    if (!row.first_elsewhere) CHECK(arena->release(first));
    if (row.first_elsewhere) CHECK(arena->release(static_cast<char*>(second) + 1024));
    if (!row.second_later)
      row.second_elsewhere ? elsewhere(second) : static_cast<void>(arena->release(second));
    CHECK(is_allocated(first));
    arena = nullptr;
    CHECK(is_allocated(first) == row.second_later);
    if (row.second_later) CHECK(Arena::release_elsewhere(second));
    CHECK_FALSE(is_allocated(first));
    CHECK_FALSE(Arena::release_elsewhere(second));
  }
}

TEST_CASE("a rank's memory comes from its arena while it fits") {
  REQUIRE(setenv("RANKBOX_GPU_ARENA_MIB", "2", 1) == 0);
  void* kept = nullptr;
  {
    RankDevice gpu(0, 0, /*sharers=*/1);
    CHECK(gpu.memory().device_allocations() == 1);
    for (int i = 1; i < 100; ++i) gpu.release(gpu.allocate(i * 10000));
    kept = gpu.allocate(kMiB);
    CHECK(gpu.memory().bytes_in_use() == kMiB);
    CHECK(gpu.memory().device_allocations() == 1);
    void* const large = gpu.allocate(3 * kMiB);
    CHECK(gpu.memory().device_allocations() == 2);
    gpu.release(large);
    CHECK(gpu.memory().bytes_kept() == 3 * kMiB);
  }
  CHECK(is_allocated(kept));
  RankDevice other(1, 0);
  other.release(kept);
  CHECK_FALSE(is_allocated(kept));
}

TEST_CASE("the size: the variable, or a share of half of what is free") {
  REQUIRE(setenv("RANKBOX_GPU_ARENA_MIB", "3", 1) == 0);
  CHECK(arena_bytes(1) == 3 * kMiB);
  CHECK(arena_bytes(0) == 0);
  REQUIRE(setenv("RANKBOX_GPU_ARENA_MIB", "3G", 1) == 0);
  CHECK_THROWS_WITH_AS(arena_bytes(1), doctest::Contains("RANKBOX_GPU_ARENA_MIB='3G'"),
                       InvalidArgument);
  REQUIRE(unsetenv("RANKBOX_GPU_ARENA_MIB") == 0);
  const std::int64_t alone = arena_bytes(1);
  CHECK(alone > 0);
  CHECK(alone <= 8192 * kMiB);
  CHECK(arena_bytes(64) <= alone);
}

}  // namespace
}  // namespace rankbox::gpu
