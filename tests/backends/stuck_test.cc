// Programs in which no rank can continue. The sandbox proves the deadlock (tests/sim checks how
// precisely); elsewhere the run ends at the deadline. Nothing hangs.
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "collectives/topology.h"
#include "comm/run_ranks.h"
#include "tests/backends/worlds.h"
#include "tests/support/run_tests.h"

namespace rankbox::testing {
namespace {

/// A program that gets stuck, for 2 ranks or more. Ranks from `stuck` on return.
struct Program {
  const char* name;
  int stuck;
  std::function<void(Comm&)> body;
};

const std::vector<Program>& programs() {
  static const std::vector<Program> all = {
      {"both send first", 2,
       [](Comm& d) {
         if (d.rank() > 1) return;
         Tensor t = zeros(too_much_to_buffer(d.world_size()));
         d.send(t, 1 - d.rank());
         d.recv(t, 1 - d.rank());
       }},
      {"both receive first", 2,
       [](Comm& d) {
         Tensor t = zeros(100'000);
         if (d.rank() > 1) return;
         d.recv(t, 1 - d.rank());
         d.send(t, 1 - d.rank());
       }},
      {"a large message that nobody receives", 1,
       [](Comm& d) {
         if (d.rank() == 0) d.send(zeros(1'000'000), 1);
       }},
      {"a message that nobody sends", 1,
       [](Comm& d) {
         if (d.rank() == 0) d.recv(zeros(3), 1);
       }},
      {"a request that nobody answers", 1,
       [](Comm& d) {
         Tensor t = zeros(3);
         if (d.rank() == 0) d.wait(d.irecv(t, 1));
       }},
      {"half a sendrecv", 1,
       [](Comm& d) {
         Tensor in = zeros(2);
         if (d.rank() == 0) d.sendrecv(zeros(2), 1, in, 1);
         if (d.rank() == 1) d.recv(in, 0);
       }},
      {"a barrier that a rank never comes to", 1,
       [](Comm& d) {
         if (d.rank() != 1) d.barrier();
       }},
      {"a request of a collective that a rank never comes to", 1,
       [](Comm& d) {
         Tensor t = zeros(3);
         if (d.rank() != 1) d.wait(d.all_reduce_async(t));
       }},
      {"a split that a rank never comes to", 1,
       [](Comm& d) {
         if (d.rank() != 1) (void)d.split(0);
       }},
      {"a collective on one side, a message on the other", 1,
       [](Comm& d) {
         Tensor t = zeros(5);
         if (d.rank() == 1) d.recv(t, 0);
         d.all_reduce(t);
       }},
      {"a split on one side, a message on the other", 1,
       [](Comm& d) {
         if (d.rank() == 1) d.recv(zeros(1), 0);
         (void)d.split(0);
       }},
  };
  return all;
}

TEST_CASE("a rank that waits in vain fails, and the run ends" * doctest::skip(kFailureEndsJob)) {
  for (const Program& program : programs()) {
    if (!wants_row(program.name)) continue;
    for (int p : world_sizes(2)) {
      const std::string name = program.name;
      CAPTURE(name);
      CAPTURE(p);
      const Observation seen = observe(stuck_world(p), program.body);
      check_stuck(seen);
      for (int rank = 0; rank < program.stuck; ++rank) check_stuck(seen, rank);
      CHECK(contains(what_of(seen.thrown), "stuck_test.cc:"));
    }
  }
}

TEST_CASE("a ring in which all send, and then receive" * doctest::skip(kFailureEndsJob)) {
  for (int p : world_sizes(2)) {
    const Observation seen = observe(stuck_world(p), [&](Comm& dist) {
      Tensor in = zeros(too_much_to_buffer(p));
      dist.send(zeros(in.shape()), next_rank(dist.rank(), p));
      dist.recv(in, prev_rank(dist.rank(), p));
    });
    check_stuck(seen);
    INFO(what_of(seen.thrown));
    // The message names all of them, with what they wait for.
    for (int rank = 0; rank < p; ++rank)
      CHECK(contains(what_of(seen.thrown), "rank " + std::to_string(rank)));
    CHECK(contains(what_of(seen.thrown), "send"));
  }
}

TEST_CASE("a rank that sends to itself, or receives from itself, fails at once" *
          doctest::skip(kFailureEndsJob)) {
  for (int p : world_sizes()) {
    for (bool sends : {true, false}) {
      const Observation seen = observe(world(p), [&](Comm& dist) {
        Tensor tensor = zeros(3);
        if (dist.rank() == p - 1) sends ? dist.send(tensor, p - 1) : dist.recv(tensor, p - 1);
        dist.barrier();
      });
      INFO(what_of(seen.thrown));
      CHECK(ended_as<DeadlockError>(seen));
      CHECK(contains(what_of(seen.thrown), "stuck_test.cc:"));
    }
  }
}

TEST_CASE("a rank that swallows it does not hide it" * doctest::skip(kFailureEndsJob)) {
  for (int p : world_sizes(2)) {
    const Observation seen = observe(stuck_world(p), [](Comm& dist) {
      try {
        if (dist.rank() == 0) dist.recv(zeros(3), 1);
      } catch (const Error&) {
      }
    });
    check_stuck(seen);
  }
}

TEST_CASE("groups wait for each other" * doctest::skip(kFailureEndsJob)) {
  // 0 and 1 share a row, 0 and 2 a column. Each waits for a rank in the other kind of group.
  for (int p : world_sizes(4)) {
    const Observation seen = observe(stuck_world(p), [](Comm& dist) {
      Comm row = dist.split(dist.rank() / 2);
      Comm column = dist.split(dist.rank() % 2);
      if (dist.rank() == 0 || dist.rank() == 3) row.barrier();
      if (dist.rank() == 1 || dist.rank() == 2) column.barrier();
    });
    check_stuck(seen);
  }
}

TEST_CASE("a rank that takes its time is waited for, as long as the deadline is") {
  for (int p : world_sizes(2)) {
    const auto run = run_ranks(world(p), [](Comm& dist) {
      if (dist.rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(500));
      Tensor sum = full(2, 1.0f);
      dist.all_reduce(sum);
      Comm all = dist.split(0);
      all.barrier();
      return to_host(sum)[1];
    });
    for (float sum : run.results) CHECK(sum == static_cast<float>(p));
    CHECK(run.report.wall_seconds >= 0.5);
  }
}

}  // namespace
}  // namespace rankbox::testing
