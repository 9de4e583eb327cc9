// Deadlock is proved, and told: who waits for whom, where.
#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/sim/observe.h"

namespace rankbox::testing {
namespace {

/// What a rank should be found waiting for.
struct Blocked {
  int rank;
  std::string op;
  std::vector<int> peers;
  long long bytes;
  int line;
};

void check_told_to(int rank, const DeadlockError& error, const std::vector<Blocked>& blocked,
                   const std::vector<int>& cycle) {
  CAPTURE(rank);
  REQUIRE(error.waits().size() == blocked.size());
  for (std::size_t i = 0; i < blocked.size(); ++i) {
    CAPTURE(i);
    const Wait& wait = error.waits()[i];
    CHECK(wait.rank == blocked[i].rank);
    CHECK(wait.op == blocked[i].op);
    CHECK(wait.peers == blocked[i].peers);
    CHECK(wait.bytes == blocked[i].bytes);
    CHECK(wait.line == blocked[i].line);
    CHECK(is_file(wait.file, "deadlock_test.cc"));
  }
  CHECK(error.cycle() == cycle);
}

/// Runs the program under several schedules. Each time the same deadlock must be proved; every rank
/// that is blocked must be told of it, in the same words, and the others must have returned.
/// @param body notes in lines[rank] the line on which the rank is going to block
std::string check_deadlocks(RunOptions options, const std::function<void(Comm&, int& line)>& body,
                            std::vector<Blocked> blocked, const std::vector<int>& cycle) {
  std::string story;
  for_each_schedule(4, [&](std::uint64_t seed) {
    options.seed = seed;
    std::vector<int> lines(static_cast<std::size_t>(options.world_size), 0);
    const Observation seen = observe(
        options, [&](Comm& dist) { body(dist, lines[static_cast<std::size_t>(dist.rank())]); });
    for (Blocked& rank : blocked) rank.line = lines[static_cast<std::size_t>(rank.rank)];

    INFO(what_of(seen.thrown));
    const auto error = require_error<DeadlockError>(seen);
    check_told_to(-1, error, blocked, cycle);
    CHECK(error.rank() == (cycle.empty() ? blocked.front().rank : cycle.front()));
    for (int rank = 0; rank < options.world_size; ++rank) {
      const std::exception_ptr& ended = seen.ranks[static_cast<std::size_t>(rank)];
      const bool is_blocked = std::any_of(blocked.begin(), blocked.end(),
                                          [&](const Blocked& b) { return b.rank == rank; });
      CAPTURE(rank);
      REQUIRE((ended != nullptr) == is_blocked);
      if (!is_blocked) continue;
      const auto told = require_error<DeadlockError>(seen, rank);
      check_told_to(rank, told, blocked, cycle);
      CHECK(told.rank() == rank);
      CHECK(std::string(told.what()) == error.what());
    }

    const std::string what = error.what();
    CHECK(contains(what, "deadlock"));
    CHECK(contains(what, "hint: "));
    for (std::size_t i = 0; i < cycle.size() && i < 8; ++i) {
      const auto at = std::find_if(blocked.begin(), blocked.end(),
                                   [&](const Blocked& b) { return b.rank == cycle[i]; });
      CHECK(contains(what, "rank " + std::to_string(cycle[i])));
      if (at != blocked.end()) {
        CHECK(contains(what, "deadlock_test.cc:" + std::to_string(at->line)));
      }
    }
    CHECK(std::count(what.begin(), what.end(), '\n') <= 11);
    if (story.empty()) story = what;
    CHECK(what == story);
  });
  return story;
}

TEST_CASE("two ranks that send first") {
  const std::string story =
      check_deadlocks({.world_size = 2},
                      [](Comm& dist, int& line) {
                        Tensor tensor = zeros(3);
                        line = __LINE__ + 1;
                        dist.send(tensor, 1 - dist.rank());
                        dist.recv(tensor, 1 - dist.rank());
                      },
                      {{0, "send", {1}, 12, 0}, {1, "send", {0}, 12, 0}}, {0, 1});
  CHECK(contains(story, "use sendrecv"));  // the way out
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

TEST_CASE("a barrier that a rank never comes to") {
  check_deadlocks({.world_size = 4},
                  [](Comm& dist, int& line) {
                    dist.barrier();
                    if (dist.rank() == 2) return;
                    line = __LINE__ + 1;
                    dist.barrier();
                  },
                  {{0, "barrier", {2}, 0, 0}, {1, "barrier", {2}, 0, 0}, {3, "barrier", {2}, 0, 0}},
                  {0, 2});
}

TEST_CASE("a collective on one side, a message on the other") {
  check_deadlocks(
      {.world_size = 3},
      [](Comm& dist, int& line) {
        Tensor tensor = zeros(5);
        if (dist.rank() == 1) {
          line = __LINE__ + 1;
          dist.recv(tensor, 0);
        }
        line = __LINE__ + 1;
        dist.all_reduce(tensor);
        if (dist.rank() == 0) dist.send(tensor, 1);
      },
      {{0, "all_reduce", {1}, 20, 0}, {1, "recv", {0}, 20, 0}, {2, "all_reduce", {1}, 20, 0}},
      {0, 1});
}

TEST_CASE("waiting for requests that nobody will complete: the line is the one that started them") {
  check_deadlocks(
      {.world_size = 3},
      [](Comm& dist, int& line) {
        const Tensor out = zeros(8);
        Tensor in = zeros(8);
        std::vector<Request> requests;
        if (dist.rank() == 0) {
          line = __LINE__ + 1;
          requests.push_back(dist.irecv(in, 1));
        } else if (dist.rank() == 1) {
          line = __LINE__ + 1;
          requests.push_back(dist.isend(out, 2));
        } else {
          line = __LINE__ + 1;
          requests.push_back(dist.all_reduce_async(in));
        }
        dist.wait_all(requests);
      },
      {{0, "recv", {1}, 32, 0}, {1, "send", {2}, 32, 0}, {2, "all_reduce", {0, 1}, 32, 0}},
      {0, 1, 2});
}

TEST_CASE("messages that nobody takes are told with the deadlock") {
  // Everybody waits for the rank before, and has sent to the one after next.
  for (int world_size : {3, 17}) {
    std::vector<Blocked> blocked;
    std::vector<int> cycle = {0};
    for (int rank = 0; rank < world_size; ++rank) {
      blocked.push_back({rank, "recv", {prev_rank(rank, world_size)}, 4, 0});
      if (rank > 0) cycle.push_back(world_size - rank);
    }
    const std::string story = check_deadlocks(
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
    CHECK(contains(story, "unmatched: rank 0 sent 4 bytes to rank 2 at "));
    CHECK(contains(story, "(and " + std::to_string(2 * world_size - 1) + " more)"));
  }
}

TEST_CASE("half a sendrecv") {
  check_deadlocks({.world_size = 2},
                  [](Comm& dist, int& line) {
                    const Tensor out = zeros(2);
                    Tensor in = zeros(3);
                    if (dist.rank() == 0) {
                      line = __LINE__ + 1;
                      dist.sendrecv(out, 1, in, 1);
                    } else {
                      Tensor box = zeros(2);
                      dist.recv(box, 0);
                      line = __LINE__ + 1;
                      dist.recv(box, 0);
                    }
                  },
                  {{0, "sendrecv", {1}, 12, 0}, {1, "recv", {0}, 8, 0}}, {0, 1});
}

TEST_CASE("a ring of sendrecvs in which one goes the wrong way") {
  // Rank 2 sends back to 1 instead of on to 0.
  check_deadlocks({.world_size = 3},
                  [](Comm& dist, int& line) {
                    const Tensor out = zeros(1);
                    Tensor in = zeros(1);
                    const int dst = dist.rank() == 2 ? 1 : dist.rank() + 1;
                    const int src = prev_of(dist);
                    line = __LINE__ + 1;
                    dist.sendrecv(out, dst, in, src);
                  },
                  {{0, "sendrecv", {2}, 4, 0}, {2, "sendrecv", {1}, 4, 0}}, {0, 2, 1});
}

TEST_CASE("within a group the story is told in ranks of the world") {
  check_deadlocks({.world_size = 5},
                  [](Comm& dist, int& line) {
                    Comm half = dist.split(dist.rank() % 2);
                    Tensor tensor = zeros(6);
                    half.all_reduce(tensor);
                    if (dist.rank() % 2 == 0) return;
                    line = __LINE__ + 1;
                    half.send(tensor, 1 - half.rank());
                  },
                  {{1, "send", {3}, 24, 0}, {3, "send", {1}, 24, 0}}, {1, 3});
}

TEST_CASE("two groups that wait for each other") {
  // 0 and 1 share a column, 0 and 2 a row; 3 is missing from the row of 2 and the column of 1.
  check_deadlocks({.world_size = 4},
                  [](Comm& dist, int& line) {
                    Comm row = dist.split(dist.rank() / 2);
                    Comm column = dist.split(dist.rank() % 2);
                    if (dist.rank() == 0) {
                      line = __LINE__ + 1;
                      row.barrier();
                    } else if (dist.rank() == 1) {
                      line = __LINE__ + 1;
                      column.barrier();
                    } else if (dist.rank() == 2) {
                      line = __LINE__ + 1;
                      column.barrier();
                    } else {
                      line = __LINE__ + 1;
                      row.barrier();
                    }
                  },
                  {{0, "barrier", {1}, 0, 0},
                   {1, "barrier", {3}, 0, 0},
                   {2, "barrier", {0}, 0, 0},
                   {3, "barrier", {2}, 0, 0}},
                  {0, 1, 3, 2});
}

TEST_CASE("the proof comes at once, not after a timeout") {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) {
    const Observation seen = observe({.world_size = 4}, [](Comm& dist) {
      Tensor tensor = zeros(1);
      dist.recv(tensor, next_of(dist));
    });
    require_error<DeadlockError>(seen);
  }
  // 20 proofs of at most 100 ms, and ten times that for a busy machine.
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
}

TEST_CASE("a deadlock is proved once, though ranks leave while others are still being woken") {
  // To be seen by a sanitizer: a second proof would look at ranks that are awake.
  for (int i = 0; i < 100; ++i) {
    const Observation seen = observe({.world_size = 9}, [](Comm& dist) {
      if (dist.rank() > 0) dist.wait(dist.barrier_async());
    });
    REQUIRE(require_error<DeadlockError>(seen).waits().size() == 8);
  }
}

TEST_CASE("a deadlock that a rank swallows still fails the run") {
  const Observation seen = observe({.world_size = 2}, [](Comm& dist) {
    Tensor tensor = zeros(1);
    try {
      dist.recv(tensor, 1 - dist.rank());
    } catch (const DeadlockError&) {
    }
  });
  CHECK(ended_as<DeadlockError>(seen));
}

}  // namespace
}  // namespace rankbox::testing
