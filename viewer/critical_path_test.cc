// The critical path of real runs: it has no gap, and follows the longest delays.
#include "viewer/critical_path.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "viewer/idle_share.h"

namespace rankbox {
namespace {

// Every call has a different length, so that few times are equal by chance.
const Cluster kMachine = {"test", {1e-6, 1e-9}, {1e-6, 1e-9}, 1e-9, 0};

struct Run {
  Trace trace;
  Replay replay;
  std::vector<EventId> path;

  const Event& event(std::size_t i) const {
    return trace.ranks[static_cast<std::size_t>(path[i].rank)][path[i].event];
  }
  const Span& span(std::size_t i) const {
    return replay.spans[static_cast<std::size_t>(path[i].rank)][path[i].event];
  }
};

Run run(int world_size, const std::function<void(Comm&)>& body,
        Buffering buffering = Buffering::rendezvous()) {
  RunOptions options;
  options.world_size = world_size;
  options.cluster = kMachine;
  options.buffering = buffering;
  RunReport report;
  try {
    run_world(options, body, &report);
  } catch (const DeadlockError&) {
    // Its path ends where it stopped.
  }
  Run result{std::move(report.trace), {}, {}};
  result.replay = replay_trace(result.trace, kMachine);
  result.path = critical_path(result.trace, result.replay);
  return result;
}

void check_without_gaps(const Run& run) {
  const double end = *std::max_element(run.replay.clocks.begin(), run.replay.clocks.end());
  double now = 0;
  for (std::size_t i = 0; i < run.path.size(); ++i) {
    CAPTURE(i);
    CHECK(run.event(i).kind != EventKind::kWait);
    CHECK(run.span(i).begin == now);
    CHECK(run.span(i).end > now);
    now = run.span(i).end;
  }
  CHECK(now == end);
}

TEST_CASE("the path goes to the rank that was waited for") {
  const Run late = run(2, [](Comm& dist) {
    Tensor tensor = zeros(10);
    if (dist.rank() == 0) dist.compute(5e-6);
    if (dist.rank() == 0) dist.send(tensor, 1);
    if (dist.rank() == 1) dist.recv(tensor, 0);
    if (dist.rank() == 1) dist.compute(1e-6);
  });
  check_without_gaps(late);
  REQUIRE(late.path.size() == 3);
  CHECK(late.path[0] == EventId{0, 0});  // what delayed rank 0
  CHECK(late.path[1] == EventId{1, 0});  // the message, on the side that continues
  CHECK(late.path[2] == EventId{1, 1});
}

TEST_CASE("a wait that did not wait leaves the path with its rank's own work") {
  const auto overlap = [](double seconds) {
    return run(2, [seconds](Comm& dist) {
      Tensor tensor = zeros(1000);
      const Comm::Request request =
          dist.rank() == 0 ? dist.isend(tensor, 1) : dist.irecv(tensor, 0);
      dist.compute(seconds);
      dist.wait(request);
      dist.compute(1e-6);
    });
  };
  const Run hidden = overlap(20e-6);
  check_without_gaps(hidden);
  CHECK(hidden.event(0).kind == EventKind::kCompute);
  const Run exposed = overlap(1e-7);
  check_without_gaps(exposed);
  CHECK(exposed.event(0).kind != EventKind::kCompute);
}

TEST_CASE("a path has no gap, for any program") {
  const auto ring = [](Comm& dist) {
    const int p = dist.world_size();
    Tensor tensor = zeros(100 + dist.rank() % 3);
    for (int round = 0; round < 5; ++round) {
      Tensor out = zeros(10 * (round + 1));
      Tensor in = zeros(10 * (round + 1));
      dist.compute(1e-7 * ((dist.rank() * 7 + round * 3) % 5));
      dist.sendrecv(out, (dist.rank() + 1) % p, in, (dist.rank() + p - 1) % p);
      in += out;
    }
    dist.barrier();
  };
  const auto many_to_one = [](Comm& dist) {  // messages compete for rank 0's port
    const int p = dist.world_size();
    std::vector<Tensor> tensors;
    std::vector<Comm::Request> requests;
    for (int peer = 0; peer < p; ++peer) tensors.push_back(zeros(50 * (peer + 1)));
    for (int peer = 1; peer < p && dist.rank() == 0; ++peer)
      requests.push_back(dist.irecv(tensors[static_cast<std::size_t>(peer)], peer));
    if (dist.rank() > 0) {
      dist.compute(1e-7 * dist.rank());
      requests.push_back(dist.isend(tensors[static_cast<std::size_t>(dist.rank())], 0));
    }
    dist.wait_all(requests);
    dist.all_reduce(tensors[0]);
  };
  for (const int world_size : {1, 2, 3, 4, 5, 7, 8}) {
    CAPTURE(world_size);
    for (const Buffering buffering : {Buffering::rendezvous(), Buffering::unbounded()}) {
      if (world_size > 1) check_without_gaps(run(world_size, ring, buffering));
      check_without_gaps(run(world_size, many_to_one, buffering));
    }
  }
}

TEST_CASE("a path has no gap after a wait_all, whose last wait took the time") {
  const Run waits = run(2, [](Comm& dist) {
    Tensor early = zeros(10);
    Tensor late = zeros(500);
    std::vector<Comm::Request> requests;
    for (Tensor* const tensor : {&early, &late})
      requests.push_back(dist.rank() == 0 ? dist.isend(*tensor, 1) : dist.irecv(*tensor, 0));
    dist.wait_all(requests);
    Tensor after = zeros(20);
    if (dist.rank() == 0) dist.wait(dist.isend(after, 1));
    if (dist.rank() == 1) dist.wait(dist.irecv(after, 0));
  });
  check_without_gaps(waits);
  CHECK(waits.path.size() == 3);
}

TEST_CASE("of what ended together, the path takes what brought the data") {
  // Both halves of each exchange begin and end together, on all ranks.
  const Run ring = run(4, [](Comm& dist) {
    Tensor tensor = zeros(40);
    const int next = (dist.rank() + 1) % 4, prev = (dist.rank() + 3) % 4;
    for (int round = 0; round < 6; ++round)
      dist.sendrecv(chunk(tensor, round % 4, 4), next, chunk(tensor, (round + 1) % 4, 4), prev);
  });
  check_without_gaps(ring);
  REQUIRE(ring.path.size() == 6);
  for (std::size_t i = 1; i < 6; ++i) {
    CAPTURE(i);
    CHECK(ring.event(i).kind == EventKind::kRecv);
    CHECK(ring.event(i).peer == ring.path[i - 1].rank);
  }
}

TEST_CASE("of what ends a run together, the path takes a receive") {
  const Run last = run(2, [](Comm& dist) {
    Tensor tensor = zeros(10);
    if (dist.rank() == 0) dist.send(tensor, 1);
    if (dist.rank() == 1) dist.recv(tensor, 0);
  });
  REQUIRE(last.path.size() == 1);
  CHECK(last.path[0].rank == 1);
}

TEST_CASE("a run that stopped has a path to where its last rank got") {
  const Run stopped = run(2, [](Comm& dist) {
    Tensor tensor = zeros(1);
    dist.compute(1e-6 * (dist.rank() + 1));
    dist.recv(tensor, 1 - dist.rank());
  });
  check_without_gaps(stopped);
  REQUIRE(stopped.path.size() == 1);
  CHECK(stopped.path[0] == EventId{1, 0});
}

TEST_CASE("a run without events has no path") {
  CHECK(run(3, [](Comm&) {}).path.empty());
}

TEST_CASE("idle time is neither transfer nor work, and overlaps count once") {
  const Run late = run(3, [](Comm& dist) {
    Tensor tensor = zeros(250);  // 1 µs and 1 µs
    if (dist.rank() == 0) dist.compute(6e-6);
    if (dist.rank() == 0) dist.send(tensor, 1);
    if (dist.rank() == 1) {
      const Comm::Request request = dist.irecv(tensor, 0);
      dist.compute(7e-6);  // during the message: busy from 0 to 8
      dist.wait(request);
    }
  });
  const std::vector<double> idle = idle_shares(late.trace, late.replay);
  CHECK(idle[0] == doctest::Approx(0));
  CHECK(idle[1] == doctest::Approx(0));
  CHECK(idle[2] == 1);
}

}  // namespace
}  // namespace rankbox
