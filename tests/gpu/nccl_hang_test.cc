// Programs that hang on NCCL, and runs of several processes: what ends them, how soon, and what they
// are told.
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "tests/gpu/nccl_test_failures.h"

namespace rankbox::gpu {
namespace {

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
