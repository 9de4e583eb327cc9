// Failing ranks on NCCL: what each rank throws, and that nothing leaks.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
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

/// Returns this process's thread count, from /proc.
int threads_here() {
  std::ifstream status("/proc/self/status");
  std::string word;
  int count = -1;
  while (status >> word) {
    if (word == "Threads:") status >> count;
  }
  return count;
}

// ---- Ranks that fail ---------------------------------------------------------------------------

TEST_CASE("a rank that waits for itself: DeadlockError at once") {
  const std::function<void(Communicator&)> calls[] = {
      [](Communicator& dist) { dist.wait(dist.isend(some(1), dist.rank())); },
      [](Communicator& dist) {
        Tensor in = some(1);
        dist.sendrecv(some(1), dist.rank(), in, 1 - dist.rank());
      },
  };
  for (const auto& call : calls) {
    const NcclRun result = run({.world_size = 2, .deadline_seconds = 60}, [&](Communicator& dist) {
      if (dist.rank() == 1) call(dist);
      dist.barrier();
    });
    CHECK(result.is<DeadlockError>(1));
    CHECK(result.is<Aborted>(0));
    CHECK(result.context().peer == 1);
  }
}

TEST_CASE("failed runs leave no thread behind, but for streams that the next run takes") {
  const auto fail = [] {
    const NcclRun result = run({.world_size = 4, .deadline_seconds = 60}, [](Communicator& dist) {
      Tensor data = some(100);
      dist.all_reduce(data);
      if (dist.rank() == 2) throw std::runtime_error("no more coffee");
      // Blocking, deferred, and on another stream.
      Tensor later = some(100), sum = some(1);
      const auto request = dist.irecv(later, 2);
      const auto reduced = dist.all_reduce_async(sum);
      dist.recv(data, 2);
      dist.barrier();
    });
    CHECK(result.is_cause<RankFailed>());
  };
  run(ranks(4), [](Communicator& dist) { dist.barrier(); });
  const int threads_before = threads_here() + 4 * 2;  // a rank takes two streams, at most
  for (int i = 0; i < 8; ++i) fail();
  // Stream threads take a moment to end.
  for (int i = 0; i < 6000 && threads_here() > threads_before; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(threads_here() <= threads_before);
}

TEST_CASE(
    "in a world that has stopped no wait succeeds: operations may have ended because of that") {
  std::atomic<bool> gives_up = false;
  std::atomic<bool> believed = false;
  const NcclRun result = run({.world_size = 2, .deadline_seconds = 60}, [&](Communicator& dist) {
    Tensor data = some(5);
    dist.all_reduce(data);  // returns when it is on the stream
    if (dist.rank() == 1) {
      static_cast<void>(to_host(data));
      gives_up = true;
      throw std::runtime_error("no more coffee");
    }
    while (!gives_up) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    static_cast<void>(to_host(data));
    believed = true;
  });
  CHECK(!believed);
  CHECK(result.is<Aborted>(0));
  CHECK(result.is_cause<RankFailed>());
}

// ---- Errors of NCCL and CUDA --------------------------------------------------------------------

TEST_CASE("work that is queued behind another communicator's does not hold up the abort") {
  const NcclRun result = run(ranks(2), [](Communicator& dist) {
    Tensor data = some(10);
    if (dist.rank() == 1) return;
    dist.all_reduce(data);  // with no other rank
    dist.send(data, 1);     // on the communicator for messages
    dist.synchronize();
  });
  INFO(result.what());
  CHECK(result.is_cause<TimedOut>());
}

TEST_CASE("a call that NCCL refuses: NcclError with operation, bytes, text, place and hint") {
  emulation::set_device_count(8);
  std::atomic<int> at{0};
  const NcclRun result = run(ranks(2), [&](Communicator& dist) {
    Tensor data = some(256);
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
}

TEST_CASE("an error that NCCL finds later ends the wait before the deadline") {
  const NcclRun result = run({.world_size = 2, .deadline_seconds = 60}, [](Communicator& dist) {
    Tensor data = some(256);
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
}

TEST_CASE("an operation that hangs: the deadline ends it") {
  const NcclRun result = run(ranks(2), [](Communicator& dist) {
    if (dist.rank() == 0) emulation::order_nccl_fault(0, NcclFault::kHangs, ncclSuccess);
    dist.barrier();
  });
  CHECK(result.is_cause<TimedOut>());
}

TEST_CASE("a start that fails: on one rank the error, elsewhere Aborted") {
  emulation::order_nccl_fault(1, NcclFault::kInitFails, ncclSystemError);
  const NcclRun result = run({.world_size = 3, .deadline_seconds = 60}, [](Communicator&) {});
  CHECK(result.is<NcclError>(1));
  CHECK(contains(result.what(), "rank 1, start: ncclCommInitRankConfig failed: ncclSystemError"));
  CHECK(result.is<Aborted>(0));
  CHECK(result.is<Aborted>(2));
}

TEST_CASE("what goes to and from the host goes through pinned memory, in pieces") {
  const std::int64_t copies = emulation::pageable_copies();
  std::atomic<int> wrong{0};
  const NcclRun result = run({.world_size = 2, .deadline_seconds = 60}, [&](Communicator& dist) {
    for (const std::size_t count : {1, 1 << 18, (1 << 18) + 1, (3 << 18) - 1}) {
      std::vector<float> numbers(count);
      std::iota(numbers.begin(), numbers.end(), 0.0f);
      Tensor data = from_host(numbers);
      dist.split(0).all_reduce(data, ReduceOp::MAX);
      wrong += to_host(data) != numbers;
    }
  });
  CHECK(result.what() == "");
  CHECK(wrong == 0);
  CHECK(emulation::pageable_copies() == copies);
}

TEST_CASE("a rank holds a bounded number of events, however many messages it starts") {
  const std::int64_t events = emulation::calls_of("cudaEventCreateWithFlags");
  const NcclRun result = run({.world_size = 2, .deadline_seconds = 60}, [](Communicator& dist) {
    Tensor in = some(4), out = some(4);
    for (int i = 0; i < 2000; ++i) {
      const int peer = 1 - dist.rank();
      dist.wait_all({dist.irecv(in, peer), dist.isend(out, peer)});
    }
  });
  CHECK(result.what() == "");
  CHECK(emulation::calls_of("cudaEventCreateWithFlags") - events < 1000);
}

TEST_CASE("a communicator that carries no data has one channel") {
  for (const bool blocking : {false, true}) {
    std::atomic<std::int64_t> channels{0};
    const NcclRun result =
        run({.world_size = 2, .deadline_seconds = 60, .blocking_calls = blocking},
            [&](Communicator& dist) {
              dist.barrier();
              if (dist.rank() == 0) channels = emulation::live_nccl_channels();
              dist.barrier();
            });
    CHECK(result.what() == "");
    // For messages and for collectives; those that block are started by a third one.
    CHECK(channels == 2 * (2 * 32 + (blocking ? 1 : 0)));
  }
}

TEST_CASE("two ranks on one GPU: refused, with what to do about it") {
  const NcclRun result = run(ranks(2), [](Communicator&) {}, {0, 0});
  CHECK(result.is_cause<NcclError>());
  CHECK(contains(result.what(), "Duplicate GPU detected : rank"));
  CHECK(contains(result.what(), "CUDA_VISIBLE_DEVICES"));
  CHECK(contains(result.what(), "NCCL_MULTI_RANK_GPU_ENABLE=1"));
  setenv("NCCL_MULTI_RANK_GPU_ENABLE", "1", 1);
  CHECK(run(ranks(2), [](Communicator& dist) { dist.barrier(); }, {0, 0}).what() == "");
  unsetenv("NCCL_MULTI_RANK_GPU_ENABLE");
}

TEST_CASE("a rank that returns frees no memory while others communicate") {
  std::atomic<int> ended{0};
  const NcclRun result = run({.world_size = 3, .deadline_seconds = 60}, [&](Communicator& dist) {
    const std::shared_ptr<void> at_end(nullptr, [&, r = dist.rank()](void*) { ended += r == 2; });
    Tensor data = some(16);
    const auto receives = [] { return emulation::running_nccl_operations() > 0; };
    while (dist.rank() != 0 && !receives()) std::this_thread::yield();
    if (dist.rank() == 2) return;
    while (dist.rank() == 1 && ended == 0) std::this_thread::yield();
    // Long enough for rank 2 to free its memory, if it does not wait for the others.
    if (dist.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(500));
    dist.rank() == 0 ? dist.recv(data, 1) : dist.send(data, 0);
  });
  CHECK(result.what() == "");
}

TEST_CASE("a failure in an open group aborts what the group began") {
  std::atomic<bool> began{false}, failed{false};
  const NcclRun result = run(
      {.world_size = 2, .deadline_seconds = 60, .blocking_calls = true}, [&](Communicator& dist) {
        Tensor data = some(16);
        if (dist.rank() == 1) {
          while (!began) std::this_thread::yield();
          const std::shared_ptr<void> at_end(nullptr, [&](void*) { failed = true; });
          throw std::runtime_error("no more coffee");
        }
        Backend backend = dist.backend();
        backend.set_timed(true);
        backend.call_in_group([&] {
          dist.all_reduce(data);
          began = true;
          while (!failed) std::this_thread::yield();
          // Until the failure has stopped the run, calls go on.
          for (;;) dist.all_reduce(data);
        });
      });
  CHECK(result.is<std::runtime_error>(1));
  CHECK(result.is<Aborted>(0));
}

TEST_CASE("a tensor on another GPU is refused with both GPUs, before NCCL reads it") {
  struct Row {
    std::string name;
    std::function<void(Communicator&, Tensor&)> call;
  };
  const Row rows[] = {
      {"all_reduce", [](Communicator& dist, Tensor& data) { dist.all_reduce(data); }},
      {"send", [](Communicator& dist, Tensor& data) { dist.send(data, 0); }},
      {"isend", [](Communicator& dist, Tensor& data) { dist.wait(dist.isend(data, 0)); }},
      {"sendrecv", [](Communicator& dist, Tensor& data) { dist.sendrecv(some(16), 1, data, 1); }},
      {"gather", [](Communicator& dist, Tensor& data) { dist.gather(data, some(32), 0); }},
  };
  emulation::set_device_count(8);
  std::jthread([&] {              // frees its device's memory at its end
    Tensor elsewhere = some(16);  // on GPU 0
    for (const Row& row : rows) {
      CAPTURE(row.name);
      const NcclRun result = run_on_nccl(ranks(2), [&](Communicator& dist) {
        if (dist.rank() == 1) {
          try {
            row.call(dist, elsewhere);
          } catch (const InvalidArgument&) {
            dist.barrier();  // what was refused leaves nothing behind
            throw;
          }
        } else {
          dist.barrier();
        }
      });
      INFO(result.what(1));
      CHECK(result.is<InvalidArgument>(1));
      CHECK(contains(result.what(1), "GPU 0"));
      CHECK(contains(result.what(1), "GPU 1"));
    }
  })
      .join();
}

TEST_CASE("a GPU that fails: CudaError on its rank, Aborted on the others") {
  const NcclRun result = run({.world_size = 2, .deadline_seconds = 60}, [](Communicator& dist) {
    Tensor data = some(16);
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
}

}  // namespace
}  // namespace rankbox::gpu
