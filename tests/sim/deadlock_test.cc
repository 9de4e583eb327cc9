// Deadlocks of messages are proved, at once and once, and reported as a wait-for graph.
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/sim/check_deadlocks.h"
#include "tests/sim/observe.h"

namespace rankbox::testing {
namespace {

TEST_CASE("two ranks that send first") {
  const std::string report =
      check_deadlocks({.world_size = 2},
                      [](Comm& dist, int& line) {
                        Tensor tensor = zeros(3);
                        line = __LINE__ + 1;
                        dist.send(tensor, 1 - dist.rank());
                        dist.recv(tensor, 1 - dist.rank());
                      },
                      {{0, "send", {1}, 12, 0}, {1, "send", {0}, 12, 0}}, {0, 1});
  CHECK(contains(report, "sendrecv"));  // the fix
}

TEST_CASE("two ranks that receive first, also when sends are buffered") {
  for (Buffering buffering : {Buffering::rendezvous(), Buffering::unbounded()}) {
    check_deadlocks({.world_size = 2, .buffering = buffering},
                    [](Comm& dist, int& line) {
                      Tensor tensor = zeros(1);
                      line = __LINE__ + 1;
                      dist.recv(tensor, 1 - dist.rank());
                      dist.send(tensor, 1 - dist.rank());
                    },
                    {{0, "recv", {1}, 4, 0}, {1, "recv", {0}, 4, 0}}, {0, 1});
  }
}

TEST_CASE("rings of ranks that send first") {
  for (int world_size : {3, 17}) {
    std::vector<Blocked> blocked;
    std::vector<int> cycle;
    for (int rank = 0; rank < world_size; ++rank) {
      blocked.push_back({rank, "send", {next_rank(rank, world_size)}, 400, 0});
      cycle.push_back(rank);
    }
    check_deadlocks(
        {.world_size = world_size},
        [](Comm& dist, int& line) {
          Tensor tensor = zeros(100);
          line = __LINE__ + 1;
          dist.send(tensor, next_of(dist));
          dist.recv(tensor, prev_of(dist));
        },
        blocked, cycle);
  }
}

TEST_CASE("a cycle among some ranks, while others wait for it and others have returned") {
  // 1 <-> 3 send to each other; 0 waits for 1, 4 for 0; 2 returns.
  check_deadlocks(
      {.world_size = 5},
      [](Comm& dist, int& line) {
        Tensor tensor = zeros(2);
        const int peer = std::vector{1, 3, -1, 1, 0}[static_cast<std::size_t>(dist.rank())];
        if (dist.rank() == 2) return;
        if (dist.rank() % 2 == 1) {
          line = __LINE__ + 1;
          dist.send(tensor, peer);
        } else {
          line = __LINE__ + 1;
          dist.recv(tensor, peer);
        }
      },
      {{0, "recv", {1}, 8, 0},
       {1, "send", {3}, 8, 0},
       {3, "send", {1}, 8, 0},
       {4, "recv", {0}, 8, 0}},
      {1, 3});
}

TEST_CASE("a chain that ends at a rank that returned") {
  check_deadlocks({.world_size = 3},
                  [](Comm& dist, int& line) {
                    Tensor tensor = zeros(4);
                    if (dist.rank() == 2) return;
                    line = __LINE__ + 1;
                    dist.recv(tensor, dist.rank() + 1);
                    dist.send(tensor, dist.rank() - 1);
                  },
                  {{0, "recv", {1}, 16, 0}, {1, "recv", {2}, 16, 0}}, {0, 1, 2});
}

TEST_CASE("a send to a rank that has long returned, and from one that returns late") {
  for (int sleeper : {0, 1}) {
    check_deadlocks({.world_size = 2},
                    [sleeper](Comm& dist, int& line) {
                      const Tensor tensor = zeros(4);
                      if (dist.rank() == sleeper)
                        std::this_thread::sleep_for(std::chrono::milliseconds(20));
                      if (dist.rank() == 1) return;
                      line = __LINE__ + 1;
                      dist.send(tensor, 1);
                    },
                    {{0, "send", {1}, 16, 0}}, {0, 1});
  }
}

TEST_CASE("a send to oneself") {
  for (int world_size : {1, 3}) {
    check_deadlocks({.world_size = world_size},
                    [](Comm& dist, int& line) {
                      const Tensor tensor = zeros(4);
                      if (dist.rank() != 0) return;
                      line = __LINE__ + 1;
                      dist.send(tensor, 0);
                    },
                    {{0, "send", {0}, 16, 0}}, {0});
  }
}

TEST_CASE("a receive from oneself, also by waiting for it") {
  check_deadlocks({.world_size = 1},
                  [](Comm& dist, int& line) {
                    Tensor tensor = zeros(4);
                    line = __LINE__ + 1;
                    dist.recv(tensor, 0);
                  },
                  {{0, "recv", {0}, 16, 0}}, {0});
  check_deadlocks({.world_size = 1},
                  [](Comm& dist, int& line) {
                    Tensor tensor = zeros(4);
                    line = __LINE__ + 1;
                    const Request request = dist.irecv(tensor, 0);
                    dist.wait(request);
                  },
                  {{0, "recv", {0}, 16, 0}}, {0});
}

TEST_CASE("a send to oneself stops those that wait elsewhere, too") {
  const Observation seen = observe({.world_size = 3}, [](Comm& dist) {
    Tensor tensor = zeros(1);
    if (dist.rank() == 1) dist.send(tensor, 1);
    dist.barrier();
  });
  CHECK(require_error<DeadlockError>(seen).cycle() == std::vector<int>{1});
  check_all_ended_as<DeadlockError>(seen);
}

TEST_CASE("messages that no rank receives are listed with the deadlock") {
  // Every rank waits for the rank before, and has sent to the one after next.
  for (int world_size : {3, 17}) {
    std::vector<Blocked> blocked;
    std::vector<int> cycle = {0};
    for (int rank = 0; rank < world_size; ++rank) {
      blocked.push_back({rank, "recv", {prev_rank(rank, world_size)}, 4, 0});
      if (rank > 0) cycle.push_back(world_size - rank);
    }
    const std::string report = check_deadlocks(
        {.world_size = world_size, .buffering = Buffering::unbounded()},
        [](Comm& dist, int& line) {
          Tensor tensor = zeros(1);
          dist.send(tensor, wrap(dist.rank() + 2, dist.world_size()));
          dist.send(tensor, wrap(dist.rank() + 2, dist.world_size()));
          line = __LINE__ + 1;
          dist.recv(tensor, prev_of(dist));
          dist.recv(tensor, prev_of(dist));
        },
        blocked, cycle);
    // The first of them, and how many more there are.
    for (const char* value : {"rank 0", "4 bytes", "rank 2"}) CHECK(contains(report, value));
    CHECK(contains(report, std::to_string(2 * world_size - 1) + " more"));
  }
}

TEST_CASE("the proof needs no timeout") {
  for (int i = 0; i < 20; ++i) {
    const Observation seen = observe({.world_size = 4, .deadline_seconds = 1e6}, [](Comm& dist) {
      Tensor tensor = zeros(1);
      dist.recv(tensor, next_of(dist));
    });
    require_error<DeadlockError>(seen);
  }
}

TEST_CASE("a deadlock is proved once, though ranks leave while others are still being woken") {
  // For sanitizers: a second proof would read ranks that are awake.
  for (int i = 0; i < 100; ++i) {
    const Observation seen = observe({.world_size = 9}, [](Comm& dist) {
      if (dist.rank() > 0) dist.wait(dist.barrier_async());
    });
    REQUIRE(require_error<DeadlockError>(seen).waits().size() == 8);
  }
}

TEST_CASE("long chains of ranks that sleep, and are woken one by one, are no deadlock") {
  for_each_schedule(10, [&](std::uint64_t seed) {
    const auto run = run_ranks({.world_size = 9, .seed = seed}, [](Comm& dist) {
      Tensor token = full(1, 0.0f);
      for (int lap = 0; lap < 20; ++lap) {
        if (dist.rank() > 0 || lap > 0) dist.recv(token, prev_of(dist));
        token += full(1, 1.0f);
        if (dist.rank() < 8 || lap < 19) dist.send(token, next_of(dist));
      }
      return element(token, 0);
    });
    CHECK(run.results[8] == 180.0f);
  });
}

}  // namespace
}  // namespace rankbox::testing
