// Device memory of a run: allocated at its start, and all of it freed afterwards.
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/gpu/gpu_test_worlds.h"

namespace rankbox::gpu {
namespace {

/// Sets the ranks' arenas for its lifetime.
class ArenaOf {
 public:
  explicit ArenaOf(const char* mebibytes) {
    if (const char* const before = std::getenv(kVariable)) before_ = before;
    setenv(kVariable, mebibytes, 1);
  }
  ~ArenaOf() { setenv(kVariable, before_.c_str(), 1); }
  ArenaOf(const ArenaOf&) = delete;
  ArenaOf& operator=(const ArenaOf&) = delete;

 private:
  static constexpr const char* kVariable = "RANKBOX_GPU_ARENA_MIB";
  std::string before_;
};

std::int64_t allocations() {
  return emulation::calls_of("cudaMalloc") + emulation::calls_of("cudaFree");
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

TEST_CASE("collectives and arithmetic allocate no device memory: at first, and after a warm-up") {
  struct Row {
    int gpus;
    const char* mode;
    int ranks;
  };
  for (const Row row : {Row{4, "nccl", 4}, Row{1, "shared", 4}, Row{2, "shared", 5}}) {
    CAPTURE(row.gpus);
    CAPTURE(row.ranks);
    const Setting setting(row.gpus, row.mode);
    {
      // The tensors fit: nothing at all, whatever their sizes.
      const ArenaOf arena("2");
      const auto run = run_ranks({.world_size = row.ranks},
                                 [](Comm& dist) { return allocated_in(dist, 1, 1000); });
      CHECK(run.results[0] == 0);
    }
    {
      // Without an arena: once for each size.
      const ArenaOf none("0");
      const auto run = run_ranks({.world_size = row.ranks}, [](Comm& dist) {
        const std::int64_t first = allocated_in(dist, 1, 1000);
        return std::pair(first, allocated_in(dist, 1, 1000));
      });
      CHECK(run.results[0].first > 0);
      CHECK(run.results[0].second == 0);
    }
  }
}

TEST_CASE("all memory is freed after a run, where tensors stay with their ranks or leave them") {
  for (const std::string mode : {"nccl", "shared"}) {
    CAPTURE(mode);
    const ArenaOf arena("2");
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
