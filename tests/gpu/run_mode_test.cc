// Assignment of ranks to the GPUs, and the errors where it is impossible.
#include "gpu/run_mode.h"

#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "comm/errors.h"
#include "tests/gpu/gpu_test_worlds.h"

namespace rankbox::gpu {
namespace {

using testing::contains;

TEST_CASE("ranks have a GPU each where there are enough, and share them where not") {
  struct Row {
    int gpus;
    int ranks;
    const char* mode;
    RunMode expected;
  };
  const Row rows[] = {
      {1, 1, "auto", RunMode::kThreads},  {1, 2, "auto", RunMode::kShared},
      {4, 4, "auto", RunMode::kThreads},  {4, 5, "auto", RunMode::kShared},
      {8, 3, "auto", RunMode::kThreads},  {8, 3, "shared", RunMode::kShared},
      {1, 1, "shared", RunMode::kShared}, {2, 2, "nccl", RunMode::kThreads},
      {2, 2, "", RunMode::kThreads},
  };
  for (const Row& row : rows) {
    CAPTURE(row.gpus);
    CAPTURE(row.ranks);
    const std::string mode = row.mode;
    CAPTURE(mode);
    const Setting setting(row.gpus, mode);
    CHECK(choose_mode(row.ranks) == row.expected);
  }
}

TEST_CASE("where NCCL lets ranks share a GPU, two a GPU are over NCCL, and more on request") {
  setenv("NCCL_MULTI_RANK_GPU_ENABLE", "1", 1);
  {
    const Setting setting(2, "auto");
    CHECK(choose_mode(4) == RunMode::kThreads);
    CHECK(choose_mode(5) == RunMode::kShared);
    CHECK(contains(describe_world(4), "4 ranks, a thread each, share 2 GPUs; NCCL between them"));
    std::atomic<int> right{0};
    run_world({.world_size = 4}, [&](Comm& dist) {
      use_everything(dist, 1000);
      Tensor ones = full(3, 1.0f);
      dist.all_reduce(ones);
      if (to_host(ones) == std::vector<float>(3, 4.0f)) ++right;
    });
    CHECK(right == 4);
  }
  {
    const Setting setting(1, "nccl");
    CHECK(choose_mode(5) == RunMode::kThreads);
  }
  {
    const Setting setting(1, "shared");
    CHECK(choose_mode(2) == RunMode::kShared);
  }
  unsetenv("NCCL_MULTI_RANK_GPU_ENABLE");
}

TEST_CASE("a mode that cannot be is refused in one line that says why and what to do") {
  const Setting setting(2, "nccl");
  const std::string what = testing::refusal([] { choose_mode(3); });
  CHECK(contains(what, "RANKBOX_GPU_MODE=nccl"));
  CHECK(contains(what, "3 ranks"));
  CHECK(contains(what, "2 GPUs"));
  CHECK(contains(what, "unset RANKBOX_GPU_MODE"));
  CHECK_FALSE(contains(what, "\n"));
  CHECK(says(thrown_by({.world_size = 3}, [](Comm&) {}), "RANKBOX_GPU_MODE=nccl"));
}

TEST_CASE("an unknown mode is refused with those there are") {
  const Setting setting(1, "fast");
  CHECK(contains(testing::refusal([] { choose_mode(1); }),
                 "RANKBOX_GPU_MODE='fast' should be nccl, shared or auto"));
}

TEST_CASE("ranks are assigned to GPUs in order, evenly, and all GPUs are used") {
  for (int gpus : {1, 2, 3, 8}) {
    const Setting setting(gpus, "auto");
    for (int ranks = 1; ranks <= 17; ++ranks) {
      CAPTURE(gpus);
      CAPTURE(ranks);
      const std::vector<int> assigned = assign_devices(ranks);
      REQUIRE(static_cast<int>(assigned.size()) == ranks);
      std::vector<int> count(static_cast<std::size_t>(gpus));
      for (std::size_t r = 0; r < assigned.size(); ++r) {
        REQUIRE(assigned[r] >= 0);
        REQUIRE(assigned[r] < gpus);
        if (r > 0) CHECK(assigned[r] >= assigned[r - 1]);
        ++count[static_cast<std::size_t>(assigned[r])];
      }
      for (int device = 0; device < gpus; ++device) {
        CHECK(count[static_cast<std::size_t>(device)] >= ranks / gpus);
        CHECK(count[static_cast<std::size_t>(device)] <= (ranks + gpus - 1) / gpus);
      }
    }
  }
}

TEST_CASE("without a GPU the run says so, and no rank begins") {
  const Setting setting(0, "auto");
  bool began = false;
  const std::exception_ptr error = thrown_by({.world_size = 2}, [&](Comm&) { began = true; });
  CHECK(is_a<Error>(error));
  CHECK(says(error, "cudaErrorNoDevice"));
  CHECK(says(error, "--config=sim"));
  CHECK_FALSE(began);
  CHECK(contains(describe_world(2), "no world of 2 ranks"));
  CHECK(contains(why_no_ranks(), "cudaErrorNoDevice"));
}

TEST_CASE("the description says what is measured, on which GPUs, with which NCCL") {
  {
    const Setting setting(1, "auto");
    const std::string text = describe_world(4);
    CHECK(contains(text,
                   "4 ranks share 1 GPU: messages are copies within its memory; no link is "
                   "measured"));
    CHECK(contains(text, "GPU 0: "));
    CHECK(contains(text, "NCCL: " + nccl_version()));
  }
  {
    const Setting setting(4, "auto");
    CHECK(contains(describe_world(4), "4 ranks, a GPU and a thread each; NCCL between them"));
    CHECK(contains(describe_world(6),
                   "6 ranks share 4 GPUs: messages are copies, by the driver where they cross a "
                   "link between GPUs; NCCL is not measured\n"));
    CHECK_FALSE(contains(describe_world(6), "no link"));
    CHECK(contains(describe_world(4), "GPU 3: "));
  }
}

}  // namespace
}  // namespace rankbox::gpu
