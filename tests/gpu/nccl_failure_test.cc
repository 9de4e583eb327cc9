// Ranks that fail on NCCL, or return too early: what each rank is told, how soon, and that nothing is
// left behind.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "gpu/nccl/error.h"
#include "tests/gpu/nccl_test_failures.h"

namespace rankbox::gpu {
namespace {

using emulation::NcclFault;

/// Threads of this process that are there, by /proc.
int threads_here() {
  std::ifstream status("/proc/self/status");
  std::string word;
  int count = -1;
  while (status >> word) {
    if (word == "Threads:") status >> count;
  }
  return count;
}

// ---- Ranks that return, or fail ----------------------------------------------------------------

TEST_CASE("a rank that returned while a peer still needs it: told at once") {
  struct Row {
    const char* says;
    std::function<void(NcclCommunicator&)> call;
  };
  const Row rows[] = {
      {"rank 0 sends 1 float32 (4 bytes) to rank 1",
       [](NcclCommunicator& dist) { dist.send(Floats(some(1)), 1); }},
      {"rank 0 receives 1 float32 (4 bytes) from rank 1",
       [](NcclCommunicator& dist) { dist.recv(Floats(some(1)), 1); }},
      {"rank 0 calls all_reduce(op SUM, 1 float32)",
       [](NcclCommunicator& dist) { dist.all_reduce(Floats(some(1))); }},
      {"rank 0 calls barrier()", [](NcclCommunicator& dist) { dist.barrier(); }},
      {"rank 0 sends 1 float32 (4 bytes) to rank 1",
       [](NcclCommunicator& dist) {
         const Floats data(some(1));
         dist.wait(dist.isend(data, 1));
       }},
      {"rank 0 receives 0 float32",
       [](NcclCommunicator& dist) { dist.wait(dist.irecv(Floats(some(0)), 1)); }},
      {"rank 0 receives ",
       [](NcclCommunicator& dist) {
         const Floats one(some(1)), two(some(2));
         const NcclRequest first = dist.irecv(one, 1);
         const NcclRequest second = dist.irecv(two, 1);
         dist.wait(second);
         dist.wait(first);
       }},
  };
  for (const Row& row : rows) {
    CAPTURE(row.says);
    const NcclRun result =
        run({.world_size = 2, .deadline_seconds = 20}, [&](NcclCommunicator& dist) {
          if (dist.rank() == 0) row.call(dist);
        });
    CHECK(result.is_cause<DeadlockError>());
    CHECK(contains(result.what(), row.says));
    CHECK(contains(result.what(), "rank 1 has returned"));
    CHECK(result.seconds < kSoon);
  }
}

TEST_CASE("a request nobody waits for fails its rank, kept or dropped") {
  for (const bool keeps : {true, false}) {
    CAPTURE(keeps);
    int at = 0;
    std::vector<NcclRequest> kept;
    const NcclRun result = run(ranks(2), [&](NcclCommunicator& dist) {
      const Floats data(some(1));
      if (dist.rank() == 0) {
        at = line() + 1;
        NcclRequest request = dist.isend(data, 1);
        if (keeps) kept.push_back(request);
      } else {
        dist.recv(data, 0);
      }
    });
    CHECK(result.is<UnreceivedMessage>(0));
    CHECK(result.is_cause<UnreceivedMessage>());
    CHECK(contains(result.what(), "request never waited for: rank 0 called isend at "));
    CHECK(contains(result.what(), in_this_file(at)));
    CHECK(result.seconds < kSoon);
  }
}

TEST_CASE(
    "a request that went without a wait fails its rank's next call, not the others' deadline") {
  int at = 0;
  const NcclRun result =
      run({.world_size = 3, .deadline_seconds = 20}, [&](NcclCommunicator& dist) {
        const Floats data(some(4));
        if (dist.rank() == 1) {
          at = line() + 1;
          static_cast<void>(dist.irecv(data, 0));
        }
        dist.barrier();
      });
  CHECK(result.is<UnreceivedMessage>(1));
  CHECK(contains(result.what(1), in_this_file(at)));
  CHECK(result.is<Aborted>(0));
  CHECK(result.is<Aborted>(2));
  CHECK(result.seconds < kSoon);
}

TEST_CASE("a rank that waits for itself: DeadlockError at once") {
  const std::function<void(NcclCommunicator&)> calls[] = {
      [](NcclCommunicator& dist) { dist.send(Floats(some(1)), dist.rank()); },
      [](NcclCommunicator& dist) { dist.recv(Floats(some(1)), dist.rank()); },
      [](NcclCommunicator& dist) { dist.wait(dist.isend(Floats(some(1)), dist.rank())); },
      [](NcclCommunicator& dist) {
        const Floats out(some(1)), in(some(1));
        dist.sendrecv(out, dist.rank(), in, 1 - dist.rank());
      },
  };
  for (const auto& call : calls) {
    const NcclRun result =
        run({.world_size = 2, .deadline_seconds = 20}, [&](NcclCommunicator& dist) {
          if (dist.rank() == 1) call(dist);
          dist.barrier();
        });
    CHECK(result.is<DeadlockError>(1));
    CHECK(result.is<Aborted>(0));
    CHECK(contains(result.what(), "rank 1 waits in "));
    CHECK(contains(result.what(), " for itself"));
    CHECK(result.seconds < kSoon);
  }
}

TEST_CASE("a rank that throws: the others' waits end at once, and tell why") {
  const int threads_before = threads_here();
  for (int i = 0; i < 3; ++i) {
    const NcclRun result =
        run({.world_size = 4, .deadline_seconds = 20}, [](NcclCommunicator& dist) {
          const Floats data(some(100));
          dist.all_reduce(data);
          if (dist.rank() == 2) throw std::runtime_error("no more coffee");
          // Blocks, is deferred, and on the side stream.
          const auto request = dist.irecv(data, 2);
          const auto sum = dist.all_reduce_async(Floats(some(1)));
          dist.recv(data, 2);
          dist.barrier();
        });
    CHECK(result.what() == "no more coffee");
    for (const int rank : {0, 1, 3}) {
      CHECK(result.is<Aborted>(rank));
      CHECK(contains(result.what(rank), "because no more coffee"));
    }
    CHECK(result.seconds < kSoon);
  }
  // Threads of streams take a moment to go.
  for (int i = 0; i < 200 && threads_here() > threads_before; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  CHECK(threads_here() <= threads_before);
}

TEST_CASE(
    "in a world that has stopped no wait succeeds: operations may have ended because of that") {
  std::atomic<bool> gives_up = false;
  std::atomic<bool> believed = false;
  const NcclRun result =
      run({.world_size = 2, .deadline_seconds = 20}, [&](NcclCommunicator& dist) {
        const Floats data(some(5));
        dist.all_reduce(data);  // returns when it is on the stream
        if (dist.rank() == 1) {
          static_cast<void>(data.to_host());
          gives_up = true;
          throw std::runtime_error("no more coffee");
        }
        while (!gives_up) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        static_cast<void>(data.to_host());
        believed = true;
      });
  CHECK(!believed);
  CHECK(result.is<Aborted>(0));
  CHECK(result.what() == "no more coffee");
}

TEST_CASE("who is to be told of a failure is told once, before anything is aborted") {
  int told = 0;
  std::int64_t communicators = 0;
  std::string why;
  NcclSettings settings = ranks(3);
  settings.on_failure = [&](const std::exception_ptr& cause) {
    ++told;
    why = NcclRun::words(cause);
    communicators = emulation::live_nccl_communicators();
    throw std::runtime_error("cannot be told");
  };
  const NcclRun result = run(settings, [](NcclCommunicator& dist) {
    if (dist.rank() == 1) throw std::runtime_error("no more tea");
    dist.barrier();
  });
  CHECK(told == 1);
  CHECK(why == "no more tea");
  CHECK(communicators == 6);
  CHECK(result.what() == "no more tea");
}

// ---- Errors of NCCL and CUDA --------------------------------------------------------------------

TEST_CASE("a call that NCCL refuses: NcclError with operation, bytes, text, place and hint") {
  emulation::set_device_count(8);
  std::atomic<int> at{0};
  const NcclRun result = run(ranks(2), [&](NcclCommunicator& dist) {
    const Floats data(some(256));
    if (dist.rank() == 1) {
      emulation::order_nccl_fault(1, NcclFault::kCallFails, ncclSystemError);
      at = line() + 1;
      dist.send(data, 0);
    } else {
      dist.recv(data, 1);
    }
    dist.barrier();
  });
  CHECK(result.is<NcclError>(1));
  CHECK(result.is<Aborted>(0));
  const std::string what = result.what();
  CHECK(contains(what, "rank 1, send, peer 0, 1024 bytes: ncclSend failed: ncclSystemError"));
  CHECK(contains(what, "unhandled system error"));
  CHECK(contains(what, "emulated failure on device 1"));
  CHECK(contains(what, in_this_file(at)));
  CHECK(contains(what, "NCCL_SOCKET_IFNAME"));
  CHECK(result.seconds < kSoon);
}

TEST_CASE("an error that NCCL finds later ends the wait before the deadline") {
  const NcclRun result = run({.world_size = 2, .deadline_seconds = 20}, [](NcclCommunicator& dist) {
    const Floats data(some(256));
    if (dist.rank() == 0) {
      emulation::order_nccl_fault(0, NcclFault::kFailsLater, ncclRemoteError);
    }
    dist.all_reduce(data);
    dist.synchronize();
  });
  CHECK(result.is<NcclError>(0));
  CHECK(result.is<Aborted>(1));
  CHECK(contains(result.what(), "remote process exited or there was a network error"));
  CHECK(contains(result.what(), "look at the output of the other ranks"));
  CHECK(result.seconds < kSoon);
}

TEST_CASE("an operation that hangs: the deadline ends it") {
  const NcclRun result = run(ranks(2), [](NcclCommunicator& dist) {
    if (dist.rank() == 0) emulation::order_nccl_fault(0, NcclFault::kHangs, ncclSuccess);
    dist.barrier();
  });
  CHECK(result.is_cause<TimedOut>());
  CHECK(result.seconds < kSoon);
}

TEST_CASE("a start that fails: on one rank the error, elsewhere Aborted") {
  emulation::order_nccl_fault(1, NcclFault::kInitFails, ncclSystemError);
  const NcclRun result = run({.world_size = 3, .deadline_seconds = 20}, [](NcclCommunicator&) {});
  CHECK(result.is<NcclError>(1));
  CHECK(contains(result.what(), "rank 1, start: ncclCommInitRankConfig failed: ncclSystemError"));
  CHECK(result.is<Aborted>(0));
  CHECK(result.is<Aborted>(2));
  CHECK(result.seconds < kSoon);
}

TEST_CASE("two ranks on one GPU: refused, with what to do about it") {
  const NcclRun result = run(ranks(2), [](NcclCommunicator&) {}, {0, 0});
  CHECK(result.is_cause<NcclError>());
  CHECK(contains(result.what(), "Duplicate GPU detected : rank"));
  CHECK(contains(result.what(), "CUDA_VISIBLE_DEVICES"));
  CHECK(contains(result.what(), "NCCL_MULTI_RANK_GPU_ENABLE=1"));
  setenv("NCCL_MULTI_RANK_GPU_ENABLE", "1", 1);
  CHECK(run(ranks(2), [](NcclCommunicator& dist) { dist.barrier(); }, {0, 0}).what() == "");
  unsetenv("NCCL_MULTI_RANK_GPU_ENABLE");
}

TEST_CASE("a GPU that fails: CudaError on its rank, Aborted on the others") {
  const NcclRun result = run({.world_size = 2, .deadline_seconds = 20}, [](NcclCommunicator& dist) {
    const Floats data(some(16));
    dist.all_reduce(data);
    dist.synchronize();
    if (dist.rank() == 1) emulation::break_device(1, cudaErrorIllegalAddress);
    try {
      dist.all_reduce(data);
      dist.synchronize();
    } catch (...) {
      emulation::break_device(1, cudaSuccess);
      throw;
    }
  });
  CHECK((result.is<CudaError>(1) || result.is<NcclError>(1)));
  CHECK(result.is<Aborted>(0));
  CHECK(result.seconds < kSoon);
}

}  // namespace
}  // namespace rankbox::gpu
