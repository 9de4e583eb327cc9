// How runs on NCCL fail: what each rank is told, how soon, and that nothing is left behind. On the
// emulated NCCL, where GPUs can be made to fail.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "gpu/emulation/cuda_control.h"
#include "gpu/emulation/nccl_control.h"
#include "gpu/nccl_error.h"
#include "gpu/nccl_test_world.h"

namespace rankbox::gpu {
namespace {

using Floats = DeviceArray<float>;
using emulation::NcclFault;

std::vector<float> some(int count) {
  return std::vector<float>(static_cast<std::size_t>(count), 1);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

int line(Place place = Place::current()) { return static_cast<int>(place.line()); }

std::string in_this_file(int at) { return "nccl_failure_test.cc:" + std::to_string(at); }

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

/// A run of eight GPUs at most, after which nothing may be left of it.
NcclRun run(const NcclSettings& settings, const std::function<void(NcclCommunicator&)>& body,
            const std::vector<int>& devices = {}) {
  emulation::set_device_count(8);
  NcclRun result = run_on_nccl(settings, body, devices);
  CHECK(emulation::live_nccl_communicators() == 0);
  CHECK(emulation::running_nccl_operations() == 0);
  CHECK(emulation::memory_in_use().allocations == 0);
  return result;
}

/// What hangs ends within this many seconds, of which the deadline is one half at most.
constexpr double kDeadline = 0.5;
constexpr double kSoon = 5;

NcclSettings ranks(int size) { return {.world_size = size, .deadline_seconds = kDeadline}; }

// ---- Arguments -------------------------------------------------------------------------------

TEST_CASE(
    "what no call can accept is refused before anything is done, and only stops its rank's run") {
  struct Row {
    const char* says;
    std::function<void(NcclCommunicator&)> call;
  };
  const Row rows[] = {
      {"destination 2 does not exist: ranks are 0 to 1",
       [](NcclCommunicator& dist) { dist.send(Floats(some(1)), 2); }},
      {"source -1 does not exist", [](NcclCommunicator& dist) { dist.recv(Floats(some(1)), -1); }},
      {"the slice is null", [](NcclCommunicator& dist) { dist.all_reduce(Slice()); }},
      {"const tensor",
       [](NcclCommunicator& dist) {
         const Floats data(some(2));
         const Slice slice = data;
         dist.recv({slice.data(), 2, DType::kFloat32, /*read_only=*/true, 0}, 1);
       }},
      {"overlap",
       [](NcclCommunicator& dist) {
         const Floats data(some(2));
         dist.sendrecv(data, 1, data, 1);
       }},
      {"gathered has 3 elements",
       [](NcclCommunicator& dist) { dist.all_gather(Floats(some(2)), Floats(some(3))); }},
      {"the slice belongs to a tensor of rank 1",
       [](NcclCommunicator& dist) {
         const Floats data(some(2));
         const Slice slice = data;
         dist.broadcast({slice.data(), 2, DType::kFloat32, false, /*owner=*/2}, 0);
       }},
      {"-1 seconds cannot be spent", [](NcclCommunicator& dist) { dist.compute(-1); }},
      {"the request is empty", [](NcclCommunicator& dist) { dist.wait(NcclRequest()); }},
  };
  for (const Row& row : rows) {
    CAPTURE(row.says);
    const NcclRun result = run(ranks(2), [&](NcclCommunicator& dist) {
      if (dist.rank() == 0) row.call(dist);
    });
    CHECK(result.is_cause<InvalidArgument>());
    CHECK(contains(result.what(), "rank 0, "));
    CHECK(contains(result.what(), row.says));
    CHECK(contains(result.what(), "nccl_failure_test.cc:"));
  }
}

TEST_CASE("a world that cannot be is refused") {
  CHECK_THROWS_AS(NcclWorld({.world_size = 0}), InvalidArgument);
  CHECK_THROWS_AS(NcclWorld({.world_size = 2, .local_ranks = {2}}), InvalidArgument);
  CHECK_THROWS_AS(NcclWorld({.world_size = 2, .local_ranks = {0}}), InvalidArgument);  // no id
  CHECK_THROWS_AS(NcclWorld({.world_size = 2, .nodes = {0}}), InvalidArgument);
  CHECK_THROWS_AS(NcclWorld({.world_size = 2, .deadline_seconds = 0}), InvalidArgument);
}

TEST_CASE("another rank's request cannot be waited for") {
  std::shared_ptr<NcclRequest> request;
  std::atomic<bool> there{false};
  const NcclRun result = run(ranks(2), [&](NcclCommunicator& dist) {
    const Floats data(some(1));
    if (dist.rank() == 0) {
      request = std::make_shared<NcclRequest>(dist.isend(data, 1));
      there = true;
      dist.barrier();
    } else {
      while (!there) std::this_thread::yield();
      dist.wait(*request);
    }
  });
  CHECK(result.is_cause<InvalidArgument>());
  CHECK(contains(result.what(), "the request belongs to rank 0"));
}

// ---- Calls that do not go together ---------------------------------------------------------------

TEST_CASE("a message of another size: MessageMismatch on both, naming both call sites") {
  for (const bool async : {false, true}) {
    for (const int first : {0, 1}) {
      CAPTURE(async);
      CAPTURE(first);
      int sent_at = 0, received_at = 0;
      std::atomic<bool> came{false};
      const NcclRun result = run(ranks(3), [&](NcclCommunicator& dist) {
        const Floats data(some(4 + dist.rank()));
        if (dist.rank() == 2) return dist.barrier();
        while (dist.rank() != first && !came) std::this_thread::yield();
        if (dist.rank() == 0) {
          sent_at = line();
          const auto start = [&] { return dist.isend(data, 1); };
          NcclRequest request;
          async ? void(request = start()) : dist.send(data, 1);
          came = true;
          if (async) dist.wait(request);
        } else {
          received_at = line() + 1;
          dist.recv(data, 0);
          came = true;
        }
        dist.barrier();
      });
      for (const int rank : {0, 1}) {
        CHECK(result.is<MessageMismatch>(rank));
        const std::string what = result.what(rank);
        CHECK(contains(what, "rank 0 sends 4 float32 (16 bytes) to rank 1 at "));
        CHECK(contains(what, "rank 1 receives 5 float32 (20 bytes) from rank 0 at "));
        CHECK(contains(what, in_this_file(sent_at + (async ? 1 : 3))));
        CHECK(contains(what, in_this_file(received_at)));
      }
      CHECK(result.is_cause<MessageMismatch>());
      CHECK(result.is<Aborted>(2));
      CHECK(contains(result.what(2), "message mismatch"));
      CHECK(result.seconds < kSoon);
    }
  }
}

TEST_CASE("a message of another type, and one to oneself of another size") {
  NcclRun result = run(ranks(2), [](NcclCommunicator& dist) {
    if (dist.rank() == 0) dist.send(Floats(some(4)), 1);
    if (dist.rank() == 1) dist.recv(DeviceArray<std::int32_t>({1, 2, 3, 4}), 0);
    dist.barrier();
  });
  CHECK(result.is<MessageMismatch>(0));
  CHECK(contains(result.what(1), "sends 4 float32"));
  CHECK(contains(result.what(1), "receives 4 int32"));
  result = run(ranks(1), [](NcclCommunicator& dist) {
    const Floats out(some(2)), in(some(3));
    dist.sendrecv(out, 0, in, 0);
  });
  CHECK(result.is_cause<MessageMismatch>());
}

TEST_CASE("different collectives: CollectiveMismatch on all ranks, naming what differs") {
  struct Row {
    const char* field;
    std::function<void(NcclCommunicator&, bool odd)> call;
  };
  const Row rows[] = {
      {"collective",
       [](NcclCommunicator& dist, bool odd) {
         const Floats data(some(4));
         odd ? dist.all_reduce(data) : dist.broadcast(data, 0);
       }},
      {"root",
       [](NcclCommunicator& dist, bool odd) { dist.broadcast(Floats(some(4)), odd ? 1 : 0); }},
      {"op",
       [](NcclCommunicator& dist, bool odd) {
         dist.all_reduce(Floats(some(4)), odd ? ReduceOp::MAX : ReduceOp::SUM);
       }},
      {"size",
       [](NcclCommunicator& dist, bool odd) { dist.all_reduce(Floats(some(odd ? 4 : 0))); }},
      {"dtype",
       [](NcclCommunicator& dist, bool odd) {
         odd ? dist.all_reduce(DeviceArray<std::int32_t>({1})) : dist.all_reduce(Floats(some(1)));
       }},
      {"root, op, size",
       [](NcclCommunicator& dist, bool odd) {
         const Floats data(some(odd ? 4 : 5));
         const auto request =
             dist.reduce_async(data, odd ? 1 : 0, odd ? ReduceOp::MAX : ReduceOp::SUM);
         dist.wait(request);
       }},
  };
  for (const Row& row : rows) {
    CAPTURE(row.field);
    const NcclRun result = run(ranks(3), [&](NcclCommunicator& dist) {
      row.call(dist, dist.rank() == 1);
      dist.barrier();
    });
    for (const int rank : {0, 1, 2}) CHECK(result.is<CollectiveMismatch>(rank));
    CHECK(contains(result.what(), std::string("collective mismatch in ") + row.field + ": rank "));
    CHECK(contains(result.what(), "but rank "));
    CHECK(contains(result.what(), "nccl_failure_test.cc:"));
    CHECK(result.seconds < kSoon);
  }
}

TEST_CASE("collectives that are not compared: the deadline ends them") {
  NcclSettings settings = ranks(2);
  settings.check_collectives = false;
  const NcclRun result = run(settings, [](NcclCommunicator& dist) {
    dist.all_reduce(Floats(some(4 + dist.rank())));
    dist.synchronize();
  });
  CHECK(result.is_cause<TimedOut>());
}

TEST_CASE("a mismatch stops the world even if a rank catches it") {
  const NcclRun result = run(ranks(2), [](NcclCommunicator& dist) {
    try {
      if (dist.rank() == 0) dist.send(Floats(some(4)), 1);
      if (dist.rank() == 1) dist.recv(Floats(some(5)), 0);
      dist.barrier();
    } catch (const MessageMismatch&) {
    }
    dist.barrier();
  });
  CHECK(result.is<MessageMismatch>(0));
  CHECK(result.is<MessageMismatch>(1));
}

// ---- What hangs ------------------------------------------------------------------------------

TEST_CASE("both send first: the deadline ends it on all ranks, with what every rank did last") {
  int sent_at = 0;
  const NcclRun result = run(ranks(2), [&](NcclCommunicator& dist) {
    const int peer = 1 - dist.rank();
    const Floats out(some(1 << 20)), in(some(1 << 20));
    if (dist.rank() == 0) sent_at = line() + 1;
    dist.send(out, peer);
    dist.recv(in, peer);
    dist.synchronize();
  });
  CHECK(result.is_cause<TimedOut>());
  const bool zero_first = result.is<TimedOut>(0);
  CHECK(result.is<TimedOut>(zero_first ? 0 : 1));
  CHECK(result.is<Aborted>(zero_first ? 1 : 0));
  const std::string what = result.what();
  CHECK(contains(what, "synchronize at "));
  CHECK(contains(what, "nothing got done on its GPU for 0.5"));
  CHECK(contains(what, "rank 0  #0 send to 1  4 MiB float32  " + in_this_file(sent_at) +
                           "  not finished after "));
  CHECK(contains(what, "rank 1  #1 recv from 0  4 MiB float32  "));
  CHECK(contains(what, "--config=sim"));
  CHECK(result.seconds > kDeadline);
  CHECK(result.seconds < kSoon);
}

TEST_CASE(
    "wherever the host waits, a peer that never calls ends it: to_host, barrier, split, the end") {
  const std::function<void(NcclCommunicator&, const Floats&)> waits[] = {
      [](NcclCommunicator&, const Floats& data) { data.to_host(); },
      [](NcclCommunicator& dist, const Floats&) { dist.barrier(); },
      [](NcclCommunicator& dist, const Floats&) { dist.split(0); },
      [](NcclCommunicator&, const Floats&) {},
      [](NcclCommunicator& dist, const Floats&) { dist.wait(dist.barrier_async()); },
  };
  const char* const names[] = {"to_host", "barrier at", "split at", "return at", "wait at"};
  for (int i = 0; i < 5; ++i) {
    CAPTURE(names[i]);
    std::atomic<bool> ended{false};
    const NcclRun result = run(ranks(2), [&](NcclCommunicator& dist) {
      const Floats data(some(10));
      if (dist.rank() == 1) {
        // Busy for longer than the deadline, and not with this.
        for (int ms = 0; ms < 3000 * kDeadline && !ended; ++ms) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        dist.compute(0);
        return;
      }
      try {
        dist.recv(data, 1);
        waits[i](dist, data);  // or the end of the function, after this body
      } catch (...) {
        ended = true;
        throw;
      }
    });
    CHECK(result.is<TimedOut>(0));
    CHECK(contains(result.what(0), names[i]));
    CHECK(result.is<Aborted>(1));
    CHECK(result.seconds < kSoon);
  }
}

TEST_CASE("a rank that never comes to the start: the others say so and end") {
  emulation::set_device_count(8);
  const auto start = std::chrono::steady_clock::now();
  NcclWorld world(ranks(3));
  std::exception_ptr failures[2];
  std::vector<std::thread> threads;
  for (int r = 0; r < 2; ++r) {
    threads.emplace_back([&, r] {
      try {
        RankDevice gpu(r, r);
        NcclRank rank(world, gpu);
      } catch (...) {
        failures[r] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(NcclRun::is_a<TimedOut>(world.cause()));
  CHECK(contains(NcclRun::words(world.cause()), "rank 2 of this process has not come"));
  for (const std::exception_ptr& failure : failures) {
    CHECK((NcclRun::is_a<TimedOut>(failure) || NcclRun::is_a<Aborted>(failure)));
  }
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
  CHECK(emulation::live_nccl_communicators() == 0);
}

TEST_CASE("slow is not hung: the deadline starts anew whenever something gets done") {
  const NcclRun result = run(ranks(2), [](NcclCommunicator& dist) {
    const Floats data(some(4));
    const cudaStream_t stream = current_rank_device()->stream();
    for (int i = 0; i < 5; ++i) {
      emulation::enqueue(stream,
                         [] { std::this_thread::sleep_for(std::chrono::milliseconds(250)); });
      dist.all_reduce(data);
    }
    dist.synchronize();
  });
  CHECK(result.what() == "");
  CHECK(result.seconds > 2 * kDeadline);
}

TEST_CASE("what NCCL does not give: isend to all, then recv from each, beyond what it buffers") {
  const NcclRun result = run(ranks(3), [](NcclCommunicator& dist) {
    const Floats out(some(10)), in(some(10));
    std::vector<NcclRequest> requests;
    for (int peer = 0; peer < 3; ++peer) {
      if (peer != dist.rank()) requests.push_back(dist.isend(out, peer));
    }
    for (int peer = 0; peer < 3; ++peer) {
      if (peer != dist.rank()) dist.recv(in, peer);
    }
    dist.wait_all(requests);
  });
  CHECK(result.is_cause<TimedOut>());
  CHECK(result.seconds < kSoon);
}

// ---- Ranks that return, or fail ----------------------------------------------------------------

TEST_CASE("a rank that returned while a peer still needs it: told at once") {
  struct Row {
    const char* says;
    std::function<void(NcclCommunicator&)> call;
    bool deadlock;
  };
  const Row rows[] = {
      {"rank 0 sends 1 float32 (4 bytes) to rank 1",
       [](NcclCommunicator& dist) { dist.send(Floats(some(1)), 1); }, true},
      {"rank 0 receives 1 float32 (4 bytes) from rank 1",
       [](NcclCommunicator& dist) { dist.recv(Floats(some(1)), 1); }, true},
      {"rank 0 calls all_reduce(op SUM, 1 float32)",
       [](NcclCommunicator& dist) { dist.all_reduce(Floats(some(1))); }, true},
      {"rank 0 calls barrier()", [](NcclCommunicator& dist) { dist.barrier(); }, true},
      {"unreceived message: rank 0 sends 1 float32",
       [](NcclCommunicator& dist) {
         const Floats data(some(1));
         dist.wait(dist.isend(data, 1));
       },
       false},
      {"unmatched receive: rank 0 receives 0 float32",
       [](NcclCommunicator& dist) { dist.wait(dist.irecv(Floats(some(0)), 1)); }, false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.says);
    const NcclRun result =
        run({.world_size = 2, .deadline_seconds = 20}, [&](NcclCommunicator& dist) {
          if (dist.rank() == 0) row.call(dist);
        });
    CHECK(result.is_cause<DeadlockError>() == row.deadlock);
    CHECK(result.is_cause<UnreceivedMessage>() == !row.deadlock);
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

// ---- Several processes ------------------------------------------------------------------------

/// As if every rank were a process: each has a world of its own, and they share only the id.
std::vector<NcclRun> run_apart(int size, const std::function<void(NcclCommunicator&)>& body) {
  emulation::set_device_count(8);
  const ncclUniqueId id = NcclWorld::make_id();
  std::vector<NcclRun> runs(static_cast<std::size_t>(size));
  std::vector<std::thread> processes;
  for (int r = 0; r < size; ++r) {
    processes.emplace_back([&, r] {
      NcclSettings settings = ranks(size);
      settings.local_ranks = {r};
      settings.id = id;
      runs[static_cast<std::size_t>(r)] = run_on_nccl(settings, body);
    });
  }
  for (std::thread& process : processes) process.join();
  CHECK(emulation::live_nccl_communicators() == 0);
  return runs;
}

TEST_CASE("a rank per process, with an id from outside: all calls work, and split") {
  Mistakes mistakes;
  const auto runs = run_apart(4, [&](NcclCommunicator& dist) {
    const int me = dist.rank();
    const Floats sum({static_cast<float>(me)});
    dist.all_reduce(sum);
    mistakes.expect_equal(sum.to_host(), {6.0f}, "sum");
    const Floats in({-1.0f});
    const auto sent = dist.isend(Floats({static_cast<float>(me)}), (me + 1) % 4);
    dist.recv(in, (me + 3) % 4);
    dist.wait(sent);
    mistakes.expect_equal(in.to_host(), {static_cast<float>((me + 3) % 4)}, "message");
    NcclCommunicator half = dist.split(me % 2);
    const Floats half_sum({1.0f});
    half.all_reduce(half_sum);
    mistakes.expect_equal(half_sum.to_host(), {2.0f}, "half");
    // The host waits while others need a deferred message.
    if (me == 0) {
      const Floats late({5.0f});
      const auto request = dist.isend(late, 1);
      dist.barrier();
      dist.wait(request);
    } else {
      if (me == 1) dist.recv(in, 0);
      dist.barrier();
    }
  });
  for (const NcclRun& result : runs) CHECK(result.what() == "");
  CHECK(mistakes.found() == "");
}

TEST_CASE("between processes nobody compares: a mismatch ends with everybody's deadline") {
  const auto runs = run_apart(2, [&](NcclCommunicator& dist) {
    const Floats data(some(3 + dist.rank()));
    if (dist.rank() == 0) dist.send(data, 1);
    if (dist.rank() == 1) dist.recv(data, 0);
    dist.synchronize();
  });
  for (const NcclRun& result : runs) {
    CHECK(result.is_cause<TimedOut>());
    CHECK(result.seconds < kSoon);
  }
}

TEST_CASE("a process that fails leaves the others to their deadline") {
  const auto runs = run_apart(2, [&](NcclCommunicator& dist) {
    if (dist.rank() == 0) throw std::runtime_error("gone");
    dist.barrier();
  });
  CHECK(runs[0].what() == "gone");
  CHECK(runs[1].is_cause<TimedOut>());
  CHECK(contains(runs[1].what(), "rank 1  #0 barrier"));
}

}  // namespace
}  // namespace rankbox::gpu
