// Deadlocks in waits other than one send or receive.
//
// These are collectives, requests, the halves of a sendrecv, and calls of several groups.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/sim/check_deadlocks.h"
#include "tests/sim/observe.h"

namespace rankbox::testing {
namespace {

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

TEST_CASE(
    "waiting for requests that no rank will complete: the line is the one that started them") {
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

TEST_CASE("within a group the report names ranks of the world") {
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

TEST_CASE("a rank that leaves out a collective, where the same one follows") {
  for (const auto& [world_size, kept] : {std::pair(2, -1), {3, -1}, {8, -1}, {3, 1000}}) {
    int first = 0, second = 0;
    RunOptions options;
    options.world_size = world_size;
    options.events_per_rank = kept;  // as ./rankbox run sets it
    const Observation seen = observe(options, [&](Comm& dist) {
      const int last = dist.world_size() - 1;
      if (dist.rank() == 0) first = __LINE__ + 1;
      if (dist.rank() != last) dist.barrier();
      if (dist.rank() == 0) second = __LINE__ + 1;
      for (int i = 0; i < 3; ++i) dist.barrier();
    });
    const auto error = require_error<DeadlockError>(seen);
    CHECK(error.line() == second);
    for (const int line : {first, second})
      CHECK(contains(error.what(), error.file() + ":" + std::to_string(line)));
    CHECK(contains(error.what(), "rank " + std::to_string(world_size - 1) + "'s barrier"));
  }
}

TEST_CASE("calls from different lines alone are no collective left out") {
  const Observation seen = observe({.world_size = 3}, [&](Comm& dist) {
    if (dist.rank() == 2) return dist.barrier();
    dist.barrier();
    dist.barrier();
  });
  CHECK(!contains(require_error<DeadlockError>(seen).what(), "'s barrier"));
}

}  // namespace
}  // namespace rankbox::testing
