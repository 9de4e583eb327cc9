// Device memory of a run: none is requested from the driver in it, and all is released after it.
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "gpu/device/device_memory.h"
#include "gpu/device/rank_device.h"
#include "tests/gpu/gpu_test_worlds.h"

namespace rankbox::gpu {
namespace {

std::int64_t allocations() {
  std::int64_t calls = 0;
  for (const char* call : {"cudaMalloc", "cudaFree", "cudaMallocHost", "cudaFreeHost"})
    calls += emulation::calls_of(call);
  return calls + emulation::pool_growths();
}

/// Returns rank 0's count of all ranks' allocations while they use everything.
std::int64_t allocated_in(Comm& dist, std::int64_t from, std::int64_t to) {
  dist.barrier();
  const std::int64_t before = allocations();
  dist.barrier();
  for (std::int64_t count = from; count < to; count += 37) use_everything(dist, count);
  dist.barrier();
  const std::int64_t after = allocations();
  dist.barrier();
  return after - before;
}

TEST_CASE("ranks that communicate request no memory from the driver while it fits into the pool") {
  setenv("RANKBOX_GPU_POOL_MIB", "8", 1);
  struct Row {
    int gpus;
    const char* mode;
    int ranks;
  };
  for (const Row row : {Row{4, "nccl", 4}, Row{1, "shared", 4}, Row{2, "shared", 5}}) {
    CAPTURE(row.gpus);
    CAPTURE(row.ranks);
    const Setting setting(row.gpus, row.mode);
    const auto run = run_ranks({.world_size = row.ranks},
                               [](Comm& dist) { return allocated_in(dist, 1, 1000); });
    CHECK(run.results[0] == 0);
  }
  setenv("RANKBOX_GPU_POOL_MIB", "1", 1);
}

TEST_CASE("a pool has what was reserved, and adds what a later run reserves beyond that") {
  constexpr std::int64_t kMiB = 1 << 20;
  emulation::set_device_count(8);
  RankDevice gpu(0, 7);  // a device that no other test uses
  const auto growths_of = [&](std::int64_t bytes) {
    const std::int64_t before = emulation::pool_growths();
    gpu.release(gpu.allocate(bytes));
    return emulation::pool_growths() - before;
  };
  reserve_memory(4 * kMiB);
  CHECK(growths_of(4 * kMiB) == 0);
  reserve_memory(2 * kMiB);
  CHECK(growths_of(4 * kMiB + 1) == 1);
  reserve_memory(16 * kMiB);
  CHECK(growths_of(12 * kMiB) == 0);
  emulation::set_device_count(1);
}

TEST_CASE("the second run of a process takes streams and pinned memory of the first") {
  for (const std::string mode : {"nccl", "shared"}) {
    CAPTURE(mode);
    const Setting setting(2, mode);
    const auto run = [] {
      run_world({.world_size = 2}, [](Comm& dist) { use_everything(dist, 100); });
    };
    const auto created = [] { return emulation::calls_of("cudaStreamCreateWithFlags"); };
    run();
    const std::int64_t before = allocations();
    const std::int64_t created_before = created();
    run();
    CHECK(allocations() == before);
    CHECK(created() == created_before);
  }
}

TEST_CASE("all memory is freed after a run, where tensors stay with their ranks or leave them") {
  for (const std::string mode : {"nccl", "shared"}) {
    CAPTURE(mode);
    const Setting setting(3, mode);
    to_host(zeros(1));  // from here on the main thread's own device exists
    const std::int64_t before = emulation::memory_in_use().allocations;
    {
      std::mutex lock;
      std::vector<Tensor> passed_on;
      auto run = run_ranks({.world_size = 3}, [&](Comm& dist) {
        use_everything(dist, 100);
        {
          const std::lock_guard guard(lock);
          passed_on.push_back(full(1000, 1.0f));
        }
        dist.barrier();
        if (dist.rank() == 1) passed_on.clear();  // two of them are other ranks'
        dist.barrier();
        return full(1000, static_cast<float>(dist.rank()));
      });
      for (int rank = 0; rank < 3; ++rank) {
        CHECK(to_host(run.results[static_cast<std::size_t>(rank)]) ==
              std::vector<float>(1000, static_cast<float>(rank)));
      }
      CHECK(emulation::memory_in_use().allocations > before);
    }
    CHECK(emulation::memory_in_use().allocations == before);
  }
}

}  // namespace
}  // namespace rankbox::gpu
