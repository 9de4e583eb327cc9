// The trace: every rank's operations, in its order, with their places.
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/sim/observe.h"

namespace rankbox::testing {
namespace {

TEST_CASE("events stand in program order, with their arguments") {
  std::vector<int> lines;
  const auto run = run_ranks({.world_size = 2, .nodes = 2}, [&](Comm& dist) {
    Tensor tensor = zeros(5);
    TensorOf<double> doubles = zeros<double>(3);
    if (dist.rank() == 1) {
      dist.recv(tensor, 0);
      dist.sendrecv(tensor, 0, doubles, 0);
      dist.broadcast(tensor, 1);
      dist.wait(dist.all_reduce_async(doubles, ReduceOp::MAX));
      return;
    }
    const int first = __LINE__;
    dist.send(tensor, 1);                                                   // + 1
    dist.sendrecv(doubles, 1, tensor, 1);                                   // + 2
    tensor += zeros(5);                                                     // + 3
    dist.compute(2.5);                                                      // + 4
    dist.broadcast(tensor, 1);                                              // + 5
    const Request request = dist.all_reduce_async(doubles, ReduceOp::MAX);  // + 6
    dist.wait(request);                                                     // + 7
    lines.push_back(first);
  });
  const std::vector<Event>& events = run.report.trace.ranks[0];
  REQUIRE(events.size() == 8);
  const int first = lines.at(0);
  const auto line = [&](std::size_t i) { return static_cast<int>(events[i].place.line()) - first; };

  CHECK(events[0].kind == EventKind::kSend);
  CHECK(events[0].peer == 1);
  CHECK(events[0].bytes == 20);
  CHECK(events[0].dtype == DType::kFloat32);
  CHECK_FALSE(events[0].paired);
  CHECK(line(0) == 1);

  CHECK(events[1].kind == EventKind::kSend);
  CHECK(events[1].paired);
  CHECK(events[1].bytes == 24);
  CHECK(events[1].dtype == DType::kFloat64);
  CHECK(events[2].kind == EventKind::kRecv);
  CHECK_FALSE(events[2].paired);
  CHECK(events[2].bytes == 20);
  CHECK(line(1) == 2);
  CHECK(line(2) == 2);

  CHECK(events[3].kind == EventKind::kReduce);
  CHECK(events[3].op == ReduceOp::SUM);
  CHECK(events[3].bytes == 20);

  CHECK(events[4].kind == EventKind::kCompute);
  CHECK(events[4].seconds == 2.5);
  CHECK(line(4) == 4);

  CHECK(events[5].kind == EventKind::kCollective);
  CHECK(events[5].collective == CollectiveKind::kBroadcast);
  CHECK(events[5].peer == 1);
  CHECK(events[5].bytes == 20);
  CHECK_FALSE(events[5].async);
  CHECK(line(5) == 5);

  CHECK(events[6].collective == CollectiveKind::kAllReduce);
  CHECK(events[6].op == ReduceOp::MAX);
  CHECK(events[6].async);
  CHECK(events[6].peer == -1);
  CHECK(line(6) == 6);
  CHECK(events[7].kind == EventKind::kWait);
  CHECK(events[7].request == events[6].request);
  CHECK(line(7) == 7);

  for (const Event& event : events) {
    CHECK(event.done);
    CHECK(event.group == 0);
    if (event.kind != EventKind::kReduce) CHECK(is_file(event.place.file_name(), "trace_test.cc"));
  }
  CHECK(run.report.trace.groups == std::vector<std::vector<int>>{{0, 1}});
  CHECK(run.report.trace.nodes == std::vector<int>{0, 1});
}

TEST_CASE("events say which sends were buffered") {
  const auto run = run_ranks({.world_size = 2, .buffering = Buffering::eager(8)}, [](Comm& dist) {
    Tensor small = zeros(2);
    Tensor large = zeros(3);
    Tensor in = zeros(2);
    const int partner = 1 - dist.rank();
    if (dist.rank() == 0) dist.send(small, partner);
    if (dist.rank() == 0) dist.send(large, partner);
    if (dist.rank() == 1) dist.recv(small, partner);
    if (dist.rank() == 1) dist.recv(large, partner);
    dist.sendrecv(small, partner, in, partner);
  });
  const std::vector<Event>& events = run.report.trace.ranks[0];
  REQUIRE(events.size() == 4);
  CHECK(events[0].buffered);
  CHECK_FALSE(events[1].buffered);
  CHECK(events[2].buffered);
}

TEST_CASE("the wall clock runs forward along each rank") {
  const auto run = run_ranks({.world_size = 3}, [](Comm& dist) {
    Tensor tensor = zeros(10);
    for (int i = 0; i < 20; ++i) {
      dist.all_reduce(tensor);
      tensor += zeros(10);
    }
  });
  for (const std::vector<Event>& events : run.report.trace.ranks) {
    std::int64_t last = 0;
    for (const Event& event : events) {
      CHECK(event.begin_ns >= last);
      CHECK(event.end_ns >= event.begin_ns);
      last = event.end_ns;
    }
    CHECK(static_cast<double>(last) * 1e-9 <= run.report.wall_seconds * 1.01);
  }
}

TEST_CASE("long traces keep every event") {
  // Fewer than a recorder's first block, and more than its largest.
  for (int count : {0, 1, 63, 64, 65, 1000, 70'000}) {
    const auto run = run_ranks({.world_size = 1}, [&](Comm& dist) {
      for (int i = 0; i < count; ++i) dist.compute(i);
    });
    const std::vector<Event>& events = run.report.trace.ranks[0];
    CAPTURE(count);
    REQUIRE(events.size() == static_cast<std::size_t>(count));
    int expected = 0;
    for (const Event& event : events) expected += event.seconds == expected && event.done;
    CHECK(expected == count);
  }
}

TEST_CASE("asynchronous operations are tied to their waits by number") {
  const auto run = run_ranks({.world_size = 2}, [](Comm& dist) {
    Tensor a = zeros(1);
    Tensor b = zeros(2);
    const Tensor out = zeros(1);
    const int partner = 1 - dist.rank();
    const Request receive = dist.irecv(a, partner);
    const Request send = dist.isend(out, partner);
    const Request sum = dist.all_reduce_async(b);
    dist.wait_all({sum, send, receive});
  });
  for (const std::vector<Event>& events : run.report.trace.ranks) {
    REQUIRE(events.size() == 6);
    CHECK(events[0].kind == EventKind::kRecv);
    CHECK(events[1].kind == EventKind::kSend);
    CHECK(events[2].kind == EventKind::kCollective);
    CHECK(events[3].request == events[2].request);
    CHECK(events[4].request == events[1].request);
    CHECK(events[5].request == events[0].request);
    CHECK(events[0].request != events[1].request);
    CHECK(events[1].request != events[2].request);
  }
}

TEST_CASE("in groups peers are ranks of the world, and events name their group") {
  const auto run = run_ranks({.world_size = 4}, [](Comm& dist) {
    Comm odd = dist.split(dist.rank() % 2);
    Tensor tensor = zeros(1);
    if (odd.rank() == 0) odd.send(tensor, 1);
    if (odd.rank() == 1) odd.recv(tensor, 0);
    odd.broadcast(tensor, 1);
  });
  const Trace& trace = run.report.trace;
  CHECK(trace.groups == std::vector<std::vector<int>>{{0, 1, 2, 3}, {0, 2}, {1, 3}});
  for (int rank = 0; rank < 4; ++rank) {
    const std::vector<Event>& events = trace.ranks[static_cast<std::size_t>(rank)];
    REQUIRE(events.size() == 3);
    CHECK(events[0].collective == CollectiveKind::kSplit);
    CHECK(events[0].group == 0);
    CHECK(events[1].group == 1 + rank % 2);
    CHECK(events[1].peer == (rank + 2) % 4);
    CHECK(events[2].peer == 2 + rank % 2);
  }
}

TEST_CASE("the trace numbers groups the same way, whatever the schedule") {
  std::vector<std::vector<int>> first;
  for_each_schedule(10, [&](std::uint64_t seed) {
    const auto run = run_ranks({.world_size = 6, .seed = seed}, [](Comm& dist) {
      Comm half = dist.split(dist.rank() / 3);
      // The halves split again a different number of times, concurrently.
      Comm inner = half.split(half.rank() % 2);
      if (dist.rank() < 3) (void)half.split(0);
      (void)inner.split(0);
      (void)dist.split(dist.rank() == 0 ? -1 : 0);
    });
    const std::vector<std::vector<int>>& groups = run.report.trace.groups;
    REQUIRE(groups.size() == 1 + 2 + 4 + 1 + 4 + 1);
    CHECK(groups[0] == std::vector<int>{0, 1, 2, 3, 4, 5});
    for (std::size_t rank = 0; rank < 6; ++rank) {
      for (const Event& event : run.report.trace.ranks[rank]) {
        const std::vector<int>& members = groups[static_cast<std::size_t>(event.group)];
        CHECK(std::count(members.begin(), members.end(), static_cast<int>(rank)) == 1);
      }
    }
    if (first.empty()) first = groups;
    CHECK(groups == first);
  });
}

TEST_CASE("the trace of a failed run says what was done") {
  const Observation seen = observe({.world_size = 2}, [](Comm& dist) {
    Tensor tensor = zeros(10);
    if (dist.rank() == 0) {
      dist.send(tensor, 1);
      dist.recv(tensor, 1);
    } else {
      dist.recv(tensor, 0);
      throw std::runtime_error("enough");
    }
  });
  REQUIRE(seen.thrown != nullptr);
  const Trace& trace = seen.report.trace;
  REQUIRE(trace.ranks.size() == 2);
  REQUIRE(trace.ranks[0].size() == 2);
  CHECK(trace.ranks[0][0].done);
  CHECK_FALSE(trace.ranks[0][1].done);
  CHECK(trace.ranks[1].size() == 1);
}

TEST_CASE("switched off there is no trace, but messages, memory and wall time are counted") {
  const auto run = run_ranks({.world_size = 2, .trace = false}, [](Comm& dist) {
    Tensor tensor = zeros(10);
    if (dist.rank() == 0) dist.send(tensor, 1);
    if (dist.rank() == 1) dist.recv(tensor, 0);
    tensor += zeros(10);
    dist.all_reduce(tensor);
  });
  CHECK(run.report.trace.ranks.empty());
  CHECK(run.report.trace.groups.empty());
  CHECK(run.report.clocks.empty());
  CHECK(run.report.cost == Cost{});
  CHECK(run.report.virtual_seconds == 0);
  CHECK(run.report.messages == 1);
  CHECK(run.report.bytes == 40);
  CHECK(run.report.peak_bytes == std::vector<std::int64_t>{80, 80});
  CHECK(run.report.wall_seconds > 0);
}

TEST_CASE("a label of up to eight characters says what was computed") {
  static_assert(sizeof(Event) == 64, "one cache line");
  const auto run = run_ranks({.world_size = 1}, [](Comm& dist) {
    dist.compute(2.5, "F3");
    dist.compute(1.5);
    dist.compute(0.5, "more than eight");
    dist.barrier();
  });
  const std::vector<Event>& events = run.report.trace.ranks[0];
  CHECK(label_of(events[0]).text() == "F3");
  CHECK(events[0].seconds == 2.5);
  CHECK(label_of(events[1]).empty());
  CHECK(label_of(events[2]).text() == "more tha");
  CHECK(label_of(events[3]).empty());
  CHECK(run.report.virtual_seconds == 4.5);
}

TEST_CASE("switched off errors still name their lines") {
  int line = 0;
  const auto seen = observe({.world_size = 2, .trace = false}, [&](Comm& dist) {
    Tensor tensor = zeros(10);
    if (dist.rank() != 0) return;
    line = __LINE__ + 1;
    dist.recv(tensor, 1);
  });
  const auto error = require_error<DeadlockError>(seen);
  REQUIRE(error.waits().size() == 1);
  CHECK(error.waits()[0].line == line);
}

}  // namespace
}  // namespace rankbox::testing
