// Traces, virtual time and rounding do not depend on thread scheduling.
//
// Traces can be replayed, also those of failed runs.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "sim/clock/clock.h"
#include "tests/sim/observe.h"
#include "tests/sim/round_cluster.h"

namespace rankbox::testing {
namespace {

/// A program with all features: neighbours, overlap, contention, groups, reductions.
void busy_program(Comm& dist) {
  const int p = dist.world_size();
  const int next = next_of(dist);
  const int prev = prev_of(dist);
  Comm half = dist.split(dist.rank() % 2);
  Tensor mine = full(20, static_cast<float>(dist.rank()));
  Tensor theirs = zeros(20);
  for (int round = 0; round < 4; ++round) {
    dist.compute((dist.rank() * 7 + round * 3) % 5 * 100);
    const Request receive = dist.irecv(theirs, prev);
    const Request send = dist.isend(mine, next);
    Tensor largest = clone(mine);
    half.all_reduce(largest, ReduceOp::MAX);
    dist.wait(receive);
    dist.wait(send);
    mine += theirs;
    mine += largest;
    Tensor box = zeros(3 + round);
    dist.sendrecv(zeros(3 + round), prev, box, next);
    if (dist.rank() == 0) {
      std::vector<Tensor> boxes(static_cast<std::size_t>(p), zeros(5));
      std::vector<Request> requests;
      for (int src = p - 1; src > 0; --src) {
        requests.push_back(dist.irecv(boxes[static_cast<std::size_t>(src)], src));
      }
      dist.wait_all(requests);
    } else {
      dist.send(zeros(5), 0);
    }
  }
  const Request last = dist.all_reduce_async(mine);
  dist.compute(10);
  dist.wait(last);
}

std::string without_wall_clock(const Trace& trace) {
  std::string text;
  for (const std::vector<Event>& events : trace.ranks) {
    for (const Event& e : events) {
      for (auto field :
           {static_cast<std::int64_t>(e.kind), static_cast<std::int64_t>(e.collective),
            static_cast<std::int64_t>(e.op), static_cast<std::int64_t>(e.dtype),
            static_cast<std::int64_t>(e.async * 8 + e.paired * 4 + e.buffered * 2 + e.done),
            static_cast<std::int64_t>(e.peer), static_cast<std::int64_t>(e.group),
            static_cast<std::int64_t>(e.request), e.bytes,
            static_cast<std::int64_t>(e.place.line())}) {
        text += std::to_string(field) + " ";
      }
      text += std::to_string(e.seconds) + "\n";
    }
    text += "\n";
  }
  return text;
}

TEST_CASE("the same program has the same trace and clocks under every schedule") {
  for (Buffering buffering :
       {Buffering::rendezvous(), Buffering::eager(20), Buffering::unbounded()}) {
    for (int world_size : {2, 5}) {
      std::string trace;
      std::vector<double> clocks;
      std::vector<Cost> costs;
      for_each_schedule(20, [&](std::uint64_t seed) {
        RunOptions options = world_of(world_size, 2);
        options.seed = seed;
        options.buffering = buffering;
        const RunReport report = report_of(options, busy_program);
        std::vector<Cost> these;
        for (const Clock& clock : report.clocks) these.push_back(clock.cost);
        if (seed == 0) {
          trace = without_wall_clock(report.trace);
          clocks = seconds_of(report);
          costs = these;
        }
        CHECK(without_wall_clock(report.trace) == trace);
        CHECK(seconds_of(report) == clocks);
        CHECK(these == costs);
      });
    }
  }
}

TEST_CASE("reductions are made in rank order, so that every run rounds alike") {
  // 1e8 + 1 is 1e8 in float: the order of additions shows.
  for_each_schedule(10, [&](std::uint64_t seed) {
    const auto run = run_ranks({.world_size = 3, .seed = seed}, [](Comm& dist) {
      Tensor tensor = full(9000, dist.rank() == 0 ? 1e8f : dist.rank() == 1 ? 1.0f : -1e8f);
      dist.all_reduce(tensor);
      return to_host(tensor);
    });
    for (const auto& result : run.results) CHECK(result == std::vector<float>(9000, 0.0f));
  });
}

TEST_CASE("a replay on another cluster needs no second run") {
  const RunReport report = report_of(world_of(5, 2), busy_program);
  Cluster other = round_cluster();
  other.within_node = {1, 2};
  other.between_nodes = {8, 4};
  RunOptions options = world_of(5, 2);
  options.cluster = other;
  CHECK(replay_trace(report.trace, other).clocks == seconds_of(report_of(options, busy_program)));
  CHECK(replay_trace(report.trace, round_cluster()).clocks == seconds_of(report));
}

TEST_CASE("the trace of a failed run can be replayed: time goes as far as the run did") {
  // Two messages, and then: a deadlock; half a sendrecv; a mismatch; a collective that differs; a
  // rank that throws while it has begun to receive; requests that are never waited for.
  const std::function<void(Comm&)> programs[] = {
      [](Comm& dist) {
        pass(dist, 0, 1, 25);
        pass(dist, 1, 0, 25);
        Tensor tensor = zeros(1);
        if (dist.rank() < 2) dist.recv(tensor, 1 - dist.rank());
      },
      [](Comm& dist) {
        pass(dist, 0, 1, 25);
        pass(dist, 1, 0, 25);
        Tensor tensor = zeros(1);
        if (dist.rank() == 1) dist.sendrecv(zeros(1), 0, tensor, 0);
      },
      [](Comm& dist) {
        pass(dist, 0, 1, 25);
        pass(dist, 1, 0, 25);
        Tensor tensor = zeros(dist.rank() + 1);
        if (dist.rank() == 0) dist.send(tensor, 1);
        if (dist.rank() == 1) dist.recv(tensor, 0);
      },
      [](Comm& dist) {
        pass(dist, 0, 1, 25);
        pass(dist, 1, 0, 25);
        Tensor tensor = zeros(1);
        dist.rank() == 1 ? dist.barrier() : dist.all_reduce(tensor);
      },
      [](Comm& dist) {
        pass(dist, 0, 1, 25);
        pass(dist, 1, 0, 25);
        Tensor tensor = zeros(1);
        if (dist.rank() != 1) return;
        const Request open = dist.irecv(tensor, 0);
        throw std::runtime_error("the cause");
      },
      [](Comm& dist) {
        pass(dist, 0, 1, 25);
        pass(dist, 1, 0, 25);
        Tensor tensor = zeros(1);
        if (dist.rank() == 0) (void)dist.irecv(tensor, 1);
        if (dist.rank() == 1) (void)dist.all_reduce_async(tensor);
      },
  };
  for (std::size_t i = 0; i < std::size(programs); ++i) {
    CAPTURE(i);
    const auto seen = observe(world_of(3), programs[i]);
    CHECK(seen.thrown != nullptr);
    REQUIRE(seen.report.clocks.size() == 3);
    CHECK(seen.report.clocks[0].seconds == 2 * (kAlpha + 100));
    CHECK(seen.report.clocks[1].seconds == 2 * (kAlpha + 100));
    const Replay replay = replay_trace(seen.report.trace, round_cluster());
    REQUIRE(replay.spans.size() == 3);
    CHECK(replay.spans[0][1].end == 2 * (kAlpha + 100));
    // Events that never completed are marked as such.
    REQUIRE(replay.spans[1].size() > 2);
    CHECK(replay.spans[1][2].end < replay.spans[1][2].begin);
  }
}

}  // namespace
}  // namespace rankbox::testing
