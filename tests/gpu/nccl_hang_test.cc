// Programs that hang on NCCL, and runs of several processes: how they end, and what the run throws.
#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "gpu/device/rank_device.h"
#include "tests/gpu/nccl_test_failures.h"

namespace rankbox::gpu {
namespace {

TEST_CASE("both send first: the deadline ends it, with what every rank did last") {
  int sent_at = 0;
  const NcclRun result = run(ranks(2), [&](Communicator& dist) {
    const int peer = 1 - dist.rank();
    Tensor out = some(1 << 20), in = some(1 << 20);
    if (dist.rank() == 0) sent_at = line() + 1;
    dist.send(out, peer);
    dist.recv(in, peer);
    dist.synchronize();
  });
  INFO(result.what());
  CHECK(result.is_cause<TimedOut>());
  // One rank's deadline aborts the other, unless both end at the same moment.
  CHECK((result.is<TimedOut>(0) || result.is<TimedOut>(1)));
  for (const int rank : {0, 1}) {
    CHECK((result.is<TimedOut>(rank) || result.is<Aborted>(rank)));
  }
  CHECK(contains(result.what(), "send to 1  4 MiB float32  " + in_this_file(sent_at)));
  CHECK(contains(result.what(), "recv from 0  4 MiB float32  "));
  CHECK(contains(result.what(), "./rankbox run"));
  CHECK(result.seconds > kDeadline);
}

TEST_CASE("a call that another rank never makes: the run names both ranks, whatever waits") {
  struct Row {
    const char* op;  // the call in which the host waits
    std::function<void(Communicator&, const Tensor&)> wait;
  };
  const Row rows[] = {
      {"to_host", [](Communicator&, const Tensor& data) { to_host(data); }},
      {"barrier", [](Communicator& dist, const Tensor&) { dist.barrier(); }},
      {"split", [](Communicator& dist, const Tensor&) { dist.split(0); }},
      {"return", [](Communicator&, const Tensor&) {}},  // the end of the function waits
      {"wait", [](Communicator& dist, const Tensor&) { dist.wait(dist.barrier_async()); }},
      {"synchronize", [](Communicator& dist, const Tensor&) { dist.synchronize(); }},
  };
  for (const Row& row : rows) {
    CAPTURE(row.op);
    std::atomic<bool> ended{false};
    int received_at = 0;
    const NcclRun result = run(ranks(2), [&](Communicator& dist) {
      Tensor data = some(10);
      if (dist.rank() == 1) {
        while (!ended) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return;
      }
      received_at = line() + 1;
      dist.recv(data, 1);
      const std::shared_ptr<void> end(nullptr, [&](void*) { ended = true; });
      row.wait(dist, data);
    });
    INFO(result.what());
    CHECK(result.is_cause<TimedOut>());
    CHECK(result.is<TimedOut>(0));
    CHECK(result.context_of(0).op == row.op);
    CHECK(result.context().rank == 0);
    CHECK(result.context().op == "recv");
    CHECK(result.context().peer == 1);
    CHECK(result.context().line == received_at);
  }
}

TEST_CASE("a rank that never comes to the start ends the others' start") {
  NcclSettings settings = ranks(3);
  settings.local_ranks = {0, 1};
  settings.id = NcclWorld::make_id();
  settings.start_seconds = kDeadline;
  const NcclRun result = run(settings, [](Communicator&) {});
  CHECK(result.is_cause<TimedOut>());
  CHECK(contains(result.what(), "rank 2  has not reported"));
}

TEST_CASE("slow is not hung: the deadline starts anew whenever something gets done") {
  const NcclRun result = run({.world_size = 2, .deadline_seconds = 5}, [](Communicator& dist) {
    Tensor data = some(4);
    const cudaStream_t stream = current_rank_device()->stream();
    for (int i = 0; i < 12; ++i) {
      emulation::enqueue(stream,
                         [] { std::this_thread::sleep_for(std::chrono::milliseconds(500)); });
      dist.all_reduce(data);
    }
    dist.synchronize();
  });
  CHECK(result.what() == "");
  CHECK(result.seconds > 5);
}

TEST_CASE(
    "more launches than a rank may have wait for the oldest, and the deadline holds there, too") {
  const NcclRun result = run(ranks(2), [](Communicator& dist) {
    Tensor data = some(4);
    if (dist.rank() == 1) return;
    for (int i = 0; i < 200; ++i) dist.send(data, 1);
  });
  INFO(result.what());
  CHECK(result.is_cause<TimedOut>());
  CHECK(result.context_of(0).op == "send");
}

TEST_CASE("arithmetic behind a message that never comes: a bounded queue, and the deadline") {
  const NcclRun result = run(ranks(2), [](Communicator& dist) {
    Tensor data = some(4);
    if (dist.rank() == 1) return;
    dist.recv(data, 1);
    for (int i = 0; i < 5000; ++i) data *= 2.0f;
  });
  INFO(result.what());
  CHECK(result.is_cause<TimedOut>());
  CHECK(result.context().op == "recv");
  CHECK(result.context_of(0).op == "*=");
}

TEST_CASE("a long queue of arithmetic is slow, not hung") {
  const NcclRun result = run({.world_size = 1, .deadline_seconds = 2}, [](Communicator& dist) {
    RankDevice& gpu = *current_rank_device();
    for (int i = 0; i < 1500; ++i) {
      gpu.before_work({.op = "accumulate"});
      emulation::enqueue(gpu.stream(),
                         [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); });
    }
    dist.synchronize();
  });
  CHECK(result.what() == "");
  CHECK(result.seconds > 2);
}

// ---- Several processes ------------------------------------------------------------------------

/// Runs each rank as if it were a process. Each has a separate world; they share the id and, at the
/// end, the serialized ends. Returns what all of them throw.
std::exception_ptr run_apart(int size, double deadline_seconds,
                             const std::function<void(Communicator&)>& body) {
  emulation::set_device_count(8);
  const ncclUniqueId id = NcclWorld::make_id();
  std::vector<std::string> bytes(static_cast<std::size_t>(size));
  std::vector<std::jthread> processes;
  for (int r = 0; r < size; ++r) {
    processes.emplace_back([&, r] {
      const NcclRun run = run_on_nccl(
          {.world_size = size, .local_ranks = {r}, .id = id, .deadline_seconds = deadline_seconds},
          body);
      bytes[static_cast<std::size_t>(r)] = rank_end_to_bytes(run.ends.front());
    });
  }
  processes.clear();  // joins them
  CHECK(emulation::live_nccl_communicators() == 0);
  std::vector<RankEnd> ends;
  for (const std::string& each : bytes) ends.push_back(rank_end_from_bytes(each));
  return failure_of(ends, size);
}

TEST_CASE("a rank per process, with an id from outside: all calls work, and split") {
  Mistakes mistakes;
  const std::exception_ptr thrown = run_apart(4, 60, [&](Communicator& dist) {
    const int me = dist.rank();
    Tensor sum = full(1, static_cast<float>(me));
    dist.all_reduce(sum);
    mistakes.expect_equal(sum, {6.0f}, "sum");
    Tensor in = zeros(1);
    const Tensor out = full(1, static_cast<float>(me));
    const auto sent = dist.isend(out, (me + 1) % 4);
    dist.recv(in, (me + 3) % 4);
    dist.wait(sent);
    mistakes.expect_equal(in, {static_cast<float>((me + 3) % 4)}, "message");
    Communicator half = dist.split(me % 2);
    Tensor half_sum = some(1);
    half.all_reduce(half_sum);
    mistakes.expect_equal(half_sum, {2.0f}, "half");
  });
  CHECK(NcclRun::words(thrown) == "");
  CHECK(mistakes.found() == "");
}

TEST_CASE("a start may take longer than an operation") {
  // Each rank begins its own world: the second one when the first has waited for twice the
  // deadline.
  emulation::set_device_count(8);
  const ncclUniqueId id = NcclWorld::make_id();
  std::vector<std::exception_ptr> failures(2);
  const auto run_rank = [&](int rank) {
    failures[static_cast<std::size_t>(rank)] =
        run_on_nccl({.world_size = 2, .local_ranks = {rank}, .id = id, .deadline_seconds = 2},
                    [](Communicator& dist) { dist.barrier(); })
            .cause;
  };
  std::jthread first(run_rank, 0);
  std::this_thread::sleep_for(std::chrono::seconds(4));
  run_rank(1);
  first.join();
  for (const std::exception_ptr& failure : failures) CHECK(NcclRun::words(failure) == "");
}

TEST_CASE("a mismatch between processes is found when they exchange their ends") {
  std::latch calls(2);
  const std::exception_ptr thrown = run_apart(2, kDeadline, [&](Communicator& dist) {
    Tensor data = some(3 + dist.rank());
    if (dist.rank() == 0) dist.send(data, 1);
    if (dist.rank() == 1) dist.recv(data, 0);
    calls.arrive_and_wait();
    dist.synchronize();
  });
  CHECK(NcclRun::is_a<MessageMismatch>(thrown));
}

TEST_CASE("a process that fails leaves the others to their deadline, and is the cause") {
  std::latch started(2);
  const std::exception_ptr thrown = run_apart(2, kDeadline, [&](Communicator& dist) {
    started.arrive_and_wait();
    if (dist.rank() == 0) throw std::runtime_error("gone");
    dist.barrier();
  });
  CHECK(NcclRun::is_a<RankFailed>(thrown));
  CHECK(contains(NcclRun::words(thrown), "gone"));
}

}  // namespace
}  // namespace rankbox::gpu
