// Ranks that share GPUs: order on the streams, several GPUs, leaks, and GPUs that fail.
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "comm/errors.h"
#include "gpu/device_here.h"
#include "gpu/kernels/kernels.h"
#include "gpu/shared/plane.h"
#include "tests/gpu/gpu_test_worlds.h"

namespace rankbox::gpu {
namespace {

void use_all_calls(Comm& dist) { use_everything(dist, 100); }

// ---- Order --------------------------------------------------------------------------------------

TEST_CASE("a send and a receive return while the ranks' GPU is still busy, and the data is right") {
  const Setting setting(1, "shared");
  const auto go_on = std::make_shared<std::atomic<bool>>(false);
  const auto run = run_ranks({.world_size = 2}, [&](Comm& dist) {
    Tensor tensor = zeros(1000);
    if (dist.rank() == 0) {
      hold(device_here().stream(), go_on);
      tensor += full(1000, 3.0f);  // not before the stream continues
      dist.send(tensor, 1);
      tensor *= 100.0f;  // nor may this overtake the copy
      *go_on = true;
      return std::vector<float>();
    }
    dist.recv(tensor, 0);
    const bool early = !*go_on;
    std::vector<float> got = to_host(tensor);
    got.push_back(early ? 1.0f : 0.0f);
    return got;
  });
  std::vector<float> expected(1000, 3.0f);
  // Rank 0 cannot reach `go_on` before rank 1 has called recv, but may before rank 1 reads it.
  const std::vector<float>& got = run.results[1];
  REQUIRE(got.size() == 1001);
  CHECK(std::vector<float>(got.begin(), got.end() - 1) == expected);
}

TEST_CASE("no rank leaves a barrier before the others' GPU work is done") {
  for (const auto& [gpus, mode] : {std::pair{2, "shared"}, {4, "nccl"}}) {
    CAPTURE(gpus);
    const Setting setting(gpus, mode);
    const auto done = std::make_shared<std::atomic<int>>(0);
    std::vector<int> seen(4);
    run_world({.world_size = 4}, [&](Comm& dist) {
      check(emulation::enqueue(device_here().stream(),
                               [done] {
                                 std::this_thread::sleep_for(std::chrono::milliseconds(20));
                                 ++*done;
                               }),
            "enqueue");
      dist.barrier();
      seen[static_cast<std::size_t>(dist.rank())] = *done;
    });
    CHECK(seen == std::vector<int>(4, 4));
  }
}

TEST_CASE("small messages and sums take one launch for many, not one each") {
  constexpr int kRanks = 4;
  constexpr int kRounds = 20;
  const Setting setting(1, "shared");
  const auto cuda_calls = [] {
    std::int64_t calls = 0;
    for (const char* call :
         {"cudaLaunchKernelEx", "cudaMemcpyAsync", "cudaEventRecord", "cudaStreamWaitEvent"})
      calls += emulation::calls_of(call);
    return calls;
  };
  const auto run = run_ranks({.world_size = kRanks}, [&](Comm& dist) {
    const int next = (dist.rank() + 1) % kRanks;
    const int prev = (dist.rank() + kRanks - 1) % kRanks;
    Tensor sum = full(256, 1.0f);
    dist.barrier();
    const std::int64_t before = cuda_calls();
    dist.barrier();
    const Tensor mine = clone(sum);
    for (int round = 0; round < kRounds; ++round) {
      Tensor theirs = zeros(256);
      dist.sendrecv(sum, next, theirs, prev);
      sum += theirs;
    }
    const std::vector<float> values = to_host(sum);
    CHECK_NOTHROW(dist.barrier());
    return std::pair(values, cuda_calls() - before);
  });
  // A fill, a copy and a sum of each rank and round; 64 to a launch, and some calls for each wait.
  constexpr std::int64_t kOperations = 3 * kRanks * kRounds;
  CHECK(run.results[0].second <= kOperations / 64 + 8 * kRanks);
  for (const auto& [values, calls] : run.results)
    CHECK(values == std::vector<float>(256, static_cast<float>(1 << kRounds)));
}

TEST_CASE("memory is released after the small operations that were collected before") {
  const Setting setting(1, "shared");
  const auto run = run_ranks({.world_size = 2}, [](Comm& dist) {
    Tensor sum = zeros(100);
    for (int i = 0; i < 300; ++i) {
      Tensor passing = full(100, 1.0f);
      if (dist.rank() == 0) dist.send(passing, 1);
      if (dist.rank() == 1) dist.recv(passing, 0);
      sum += passing;
    }
    return to_host(sum)[99];
  });
  CHECK(run.results == std::vector<float>(2, 300.0f));
}

// ---- Several GPUs, many ranks ------------------------------------------------------------------

TEST_CASE("GPUs that do not reach each other's memory give the same results") {
  const Setting setting(3, "shared");
  const auto results = [](bool reach) {
    emulation::set_peer_access(reach);
    return run_ranks({.world_size = 5},
                     [](Comm& dist) {
                       Tensor sum = full(33, static_cast<float>(dist.rank() + 1));
                       Tensor only = clone(sum);
                       Tensor spread = clone(sum);
                       Tensor all = zeros(33 * 5);
                       Tensor piece = zeros(33);
                       dist.all_reduce(sum, ReduceOp::AVG);
                       dist.reduce(only, 4, ReduceOp::SUM);
                       dist.broadcast(spread, 1);
                       dist.all_gather(only, all);
                       dist.reduce_scatter(all, piece, ReduceOp::SUM);
                       return std::vector{to_host(sum), to_host(only), to_host(spread),
                                          to_host(all), to_host(piece)};
                     })
        .results;
  };
  const auto expected = results(true);
  CHECK(results(false) == expected);
  emulation::set_peer_access(true);
}

TEST_CASE("more ranks than a kernel takes pointers") {
  static_assert(kMostPointers == 64);
  for (int ranks : {65, 130}) {
    for (ReduceOp op : {ReduceOp::SUM, ReduceOp::AVG, ReduceOp::MIN}) {
      const Setting setting(2, "shared");
      const auto run = run_ranks({.world_size = ranks}, [&](Comm& dist) {
        TensorOf<std::int32_t> tensor = full<std::int32_t>(5, dist.rank() * 2 + 1);
        TensorOf<std::int32_t> sent = full<std::int32_t>(3, dist.rank());
        dist.all_reduce(tensor, op);
        dist.broadcast(sent, 70 % ranks);
        return std::vector<std::int32_t>{to_host(tensor)[4], to_host(sent)[2]};
      });
      CAPTURE(ranks);
      const std::int32_t expected = op == ReduceOp::SUM   ? ranks * ranks
                                    : op == ReduceOp::AVG ? ranks
                                                          : 1;
      for (const auto& result : run.results)
        CHECK(result == std::vector<std::int32_t>{expected, 70 % ranks});
    }
  }
}

TEST_CASE("tensors of the main thread may be used by ranks on any GPU") {
  const Setting setting(3, "shared");
  const Tensor outside = full(100, 2.0f);  // on the first
  Tensor target = zeros(100);
  const auto run = run_ranks({.world_size = 3}, [&](Comm& dist) {
    Tensor mine = clone(outside);
    mine += outside;
    Tensor theirs = zeros(100);
    dist.sendrecv(outside, (dist.rank() + 1) % 3, theirs, (dist.rank() + 2) % 3);
    mine += theirs;
    if (dist.rank() == 2) copy(target, mine);
    Tensor sum = clone(outside);
    dist.all_reduce(sum);
    return to_host(mine)[99] + to_host(sum)[0];
  });
  CHECK(run.results == std::vector<float>(3, 12.0f));
  CHECK(to_host(target) == std::vector<float>(100, 6.0f));
  // A kernel of one GPU cannot write to another's memory: that is an error, not a crash.
  const std::exception_ptr error = thrown_by({.world_size = 3}, [&](Comm& dist) {
    if (dist.rank() == 2) target += full(100, 1.0f);
  });
  CHECK(is_a<InvalidArgument>(error));
  CHECK(says(error, "clone()"));
}

// ---- Leaks --------------------------------------------------------------------------------------

TEST_CASE("no memory is left behind, however a run ends") {
  const std::vector<std::function<void(Comm&)>> programs = {
      use_all_calls,
      [](Comm& dist) {  // a deadlock
        use_all_calls(dist);
        Tensor tensor = zeros(10);
        dist.send(tensor, (dist.rank() + 1) % dist.world_size());
      },
      [](Comm& dist) {  // a failure
        const Tensor tensor = zeros(10);
        if (dist.rank() == 1) throw std::runtime_error("the cause");
        use_all_calls(dist);
      },
      [](Comm& dist) {  // messages without a receive
        if (dist.rank() == 0) dist.wait(dist.isend(zeros(1000), 1));
      },
      [](Comm& dist) {  // requests without a wait
        Tensor tensor = zeros(10);
        const Request request = dist.irecv(tensor, 0);
      },
  };
  emulation::set_device_count(2);
  to_host(zeros(1));  // from here on the main thread's own device exists
  for (const auto& program : programs) {
    for (Buffering buffering : {Buffering::rendezvous(), Buffering::unbounded()}) {
      const std::int64_t before = emulation::memory_in_use().allocations;
      {
        const Setting setting(2, "shared");
        thrown_by({.world_size = 5, .buffering = buffering}, program);
      }
      CHECK(emulation::memory_in_use().allocations == before);
    }
  }
}

// ---- GPUs that fail -----------------------------------------------------------------------------

TEST_CASE(
    "a CUDA call that fails ends the run with its error, wherever it was, and only that run") {
  // Large tensors are a call each; small ones are collected.
  for (const std::int64_t count : {10'000, 100}) {
    for (const char* call : {"cudaMemcpyAsync", "cudaMemcpyPeerAsync", "cudaEventRecord",
                             "cudaStreamWaitEvent", "cudaLaunchKernelEx", "cudaMallocAsync"}) {
      for (int skip : {0, 1, 2, 3, 5, 7}) {
        const Setting setting(2, "shared");
        emulation::fail_next(call, cudaErrorUnknown, skip);
        const std::exception_ptr error =
            thrown_by({.world_size = 4, .buffering = Buffering::eager(100)},
                      [&](Comm& dist) { use_everything(dist, count); });
        const bool fired = !emulation::fail_next(call, cudaSuccess);
        const std::string name = call;
        CAPTURE(count);
        CAPTURE(name);
        CAPTURE(skip);
        INFO(testing::what_of(error));
        CHECK(fired == is_a<CudaError>(error));
        if (fired) CHECK(says(error, name + " failed: cudaErrorUnknown"));
        std::vector<float> sums(4);
        run_world({.world_size = 4}, [&](Comm& dist) {
          Tensor sum = full(count, 1.0f);
          dist.all_reduce(sum);
          sums[static_cast<std::size_t>(dist.rank())] = to_host(sum)[0];
        });
        CHECK(sums == std::vector<float>(4, 4.0f));
      }
    }
  }
}

TEST_CASE("a run after one that hangs has another stream, and does not wait") {
  const Setting setting(1, "shared");
  const auto go_on = std::make_shared<std::atomic<bool>>(false);
  cudaStream_t hung = nullptr;
  const std::exception_ptr error =
      thrown_by({.world_size = 4, .deadline_seconds = 0.3}, [&](Comm& dist) {
        if (dist.rank() > 0) return;
        hung = device_here().stream();
        hold(hung, go_on);
        to_host(zeros(10));
      });
  INFO(testing::what_of(error));
  CHECK(is_a<TimedOut>(error));
  const auto next = run_ranks({.world_size = 4}, [&](Comm& dist) {
    Tensor sum = full(10, 1.0f);
    dist.all_reduce(sum);
    return std::pair(to_host(sum)[9], device_here().stream() != hung);
  });
  for (const auto& result : next.results) CHECK(result == std::pair(4.0f, true));
  *go_on = true;
  CHECK(cudaStreamSynchronize(hung) == cudaSuccess);
}

TEST_CASE("a loop of calls without a wait leaves a bounded number of them on the stream") {
  const Setting setting(1, "shared");
  const auto go_on = std::make_shared<std::atomic<bool>>(false);
  int rounds = 0;
  const std::exception_ptr error =
      thrown_by({.world_size = 2, .deadline_seconds = 0.5}, [&](Comm& dist) {
        if (dist.rank() == 1) return;
        Tensor large = zeros(20'000);
        hold(device_here().stream(), go_on);
        const std::shared_ptr<void> end(nullptr, [&](void*) { *go_on = true; });
        for (; rounds < 100'000; ++rounds) large += large;
      });
  INFO(testing::what_of(error));
  CHECK(is_a<TimedOut>(error));
  CHECK(rounds < 1000);
}

TEST_CASE("memory that runs out: the error names the rank") {
  const Setting setting(1, "shared");
  const std::exception_ptr error = thrown_by({.world_size = 2}, [](Comm& dist) {
    if (dist.rank() == 1) Tensor too_large(std::int64_t{1} << 40);
    dist.barrier();
  });
  CHECK(is_a<OutOfMemory>(error));
  CHECK(says(error, "rank 1"));
}

TEST_CASE("a rank whose GPU hangs ends at the deadline, and so do all others") {
  const Setting setting(1, "shared");
  const auto go_on = std::make_shared<std::atomic<bool>>(false);
  const std::exception_ptr error =
      thrown_by({.world_size = 2, .deadline_seconds = 0.3}, [&](Comm& dist) {
        Tensor tensor = zeros(10);
        if (dist.rank() == 0) {
          hold(device_here().stream(), go_on);
          // The streams must end: the ranks' devices wait for them.
          const std::shared_ptr<void> end(nullptr, [&](void*) { *go_on = true; });
          to_host(tensor);
        }
        dist.recv(tensor, 0);
      });
  INFO(testing::what_of(error));
  CHECK(is_a<TimedOut>(error));
  CHECK(says(error, "rank 0, to_host"));
}

// ---- Deadlocks ----------------------------------------------------------------------------------

TEST_CASE("a deadlock is proved where ranks share GPUs") {
  const Setting setting(1, "auto");
  const std::exception_ptr error =
      thrown_by({.world_size = 2}, [](Comm& dist) { dist.send(zeros(1000), 1 - dist.rank()); });
  CHECK(is_a<DeadlockError>(error));
  CHECK(says(error, "shared_plane_test.cc:"));
}

}  // namespace
}  // namespace rankbox::gpu
