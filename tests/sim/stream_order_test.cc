// Programs that end here and hang on NCCL, whose ranks have one stream each (stream_order.h).
#include "sim/clock/stream_order.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "comm/run_ranks.h"
#include "tests/sim/observe.h"
#include "tests/sim/stream_oracle.h"

namespace rankbox::testing {
namespace {

RunOptions in_stream_order(int world_size) {
  return {.world_size = world_size, .order = MessageOrder::kStream};
}

/// How a program ends in the order of streams.
enum class Ends { kAlways, kIfBuffered, kNever };

Ends end_of(const Trace& trace) {
  const std::optional<StreamHang> hang = find_stream_hang(trace);
  if (!hang) return Ends::kAlways;
  return hang->needs_full_buffers ? Ends::kIfBuffered : Ends::kNever;
}

struct Row {
  const char* name;
  void (*program)(Comm& dist, Tensor& out, Tensor& in);
  Ends ends;
};

// Ranks in a ring; with two, each is the other's next and previous one.
const Row kRows[] = {
    {"both receive first, and wait for one after the other",
     [](Comm& dist, Tensor& out, Tensor& in) {
       const Comm::Request received = dist.irecv(in, prev_of(dist));
       const Comm::Request sent = dist.isend(out, next_of(dist));
       dist.wait(received);
       dist.wait(sent);
     },
     Ends::kNever},
    {"the same, with one wait_all",
     [](Comm& dist, Tensor& out, Tensor& in) {
       const Comm::Request received = dist.irecv(in, prev_of(dist));
       const Comm::Request sent = dist.isend(out, next_of(dist));
       dist.wait_all({received, sent});
     },
     Ends::kAlways},
    {"one wait_all, but a blocking call between the starts",
     [](Comm& dist, Tensor& out, Tensor& in) {
       const Comm::Request received = dist.irecv(in, prev_of(dist));
       dist.barrier();
       const Comm::Request sent = dist.isend(out, next_of(dist));
       dist.wait_all({received, sent});
     },
     Ends::kNever},
    {"one wait_all, but a blocking call before that",
     [](Comm& dist, Tensor& out, Tensor& in) {
       const Comm::Request received = dist.irecv(in, prev_of(dist));
       const Comm::Request sent = dist.isend(out, next_of(dist));
       dist.barrier();
       dist.wait_all({received, sent});
     },
     Ends::kNever},
    {"both send first",
     [](Comm& dist, Tensor& out, Tensor& in) {
       const Comm::Request sent = dist.isend(out, next_of(dist));
       dist.recv(in, prev_of(dist));
       dist.wait(sent);
     },
     Ends::kIfBuffered},
    {"sendrecv",
     [](Comm& dist, Tensor& out, Tensor& in) {
       dist.sendrecv(out, next_of(dist), in, prev_of(dist));
     },
     Ends::kAlways},
    {"even ranks receive first, odd ones send first",
     [](Comm& dist, Tensor& out, Tensor& in) {
       const bool even = dist.rank() % 2 == 0;
       Comm::Request first = even ? dist.irecv(in, prev_of(dist)) : dist.isend(out, next_of(dist));
       Comm::Request second = even ? dist.isend(out, next_of(dist)) : dist.irecv(in, prev_of(dist));
       dist.wait(first);
       dist.wait(second);
     },
     Ends::kAlways},
    {"a started collective between two messages, which has its own stream",
     [](Comm& dist, Tensor& out, Tensor& in) {
       Tensor sum = zeros(3);
       const Comm::Request received = dist.irecv(in, prev_of(dist));
       const Comm::Request reduced = dist.all_reduce_async(sum);
       const Comm::Request sent = dist.isend(out, next_of(dist));
       dist.wait_all({reduced, received, sent});
     },
     Ends::kAlways},
    {"empty messages, which NCCL does not get",
     [](Comm& dist, Tensor& out, Tensor& in) {
       const Comm::Request received = dist.irecv(Slice(in).sub(0, 0), prev_of(dist));
       const Comm::Request sent = dist.isend(Slice(out).sub(0, 0), next_of(dist));
       dist.wait(received);
       dist.wait(sent);
     },
     Ends::kAlways},
};

TEST_CASE("what hangs in the order of streams fails, and only there") {
  for (const Row& row : kRows) {
    for (const int world_size : {2, 4, 6}) {
      CAPTURE(row.name);
      CAPTURE(world_size);
      const auto body = [&](Comm& dist) {
        Tensor out = zeros(3);
        Tensor in = zeros(3);
        row.program(dist, out, in);
      };
      const Observation usual = observe({.world_size = world_size}, body);
      REQUIRE(usual.thrown == nullptr);
      CHECK(end_of(usual.report.trace) == row.ends);
      const Observation ordered = observe(in_stream_order(world_size), body);
      CHECK(ended_as<DeadlockError>(ordered) == (row.ends != Ends::kAlways));
      check_all_ended_as<DeadlockError>({.thrown = ordered.thrown, .ranks = {}, .report = {}});
    }
  }
}

TEST_CASE("the report has the circle, with both lines of each rank") {
  int line = 0;
  const Observation seen = observe(in_stream_order(3), [&line](Comm& dist) {
    Tensor out = zeros(2);
    Tensor in = zeros(2);
    if (dist.rank() == 0) line = __LINE__ + 1;
    const Comm::Request received = dist.irecv(in, prev_of(dist));
    const Comm::Request sent = dist.isend(out, next_of(dist));
    dist.wait(sent);
    dist.wait(received);
  });
  const auto error = require_error<DeadlockError>(seen);
  CHECK(error.rank() == 0);
  CHECK(error.op() == "isend");
  CHECK(error.peer() == 1);
  CHECK(error.line() == line + 1);
  CHECK(error.hint().id == "group-messages");
  CHECK(error.cycle() == std::vector<int>{0, 2, 1});
  const std::string own =
      fmt::format("rank 0: isend to rank 1 at {}:{} is queued", __FILE__, line + 1);
  CHECK_MESSAGE(contains(error.what(), own), error.what());
  REQUIRE(error.waits().size() == 3);
  for (int rank = 0; rank < 3; ++rank) {
    const Wait& wait = error.waits()[static_cast<std::size_t>(rank)];
    CHECK(wait.rank == rank);
    CHECK(wait.op == "irecv");
    CHECK(wait.peers == std::vector<int>{prev_rank(rank, 3)});
    CHECK(wait.line == line);
  }
}

TEST_CASE("a circle may lead through ranks whose own calls wait") {
  // Rank 1's message to 2 is behind its receive from 0, which waits for 2 before it sends.
  const Observation seen = observe({.world_size = 3}, [](Comm& dist) {
    Tensor out = zeros(2);
    Tensor in = zeros(2);
    if (dist.rank() == 1) {
      const Comm::Request received = dist.irecv(in, 0);
      const Comm::Request sent = dist.isend(out, 2);
      dist.wait(received);
      dist.wait(sent);
    } else if (dist.rank() == 2) {
      dist.recv(in, 1);
      dist.send(out, 0);
    } else {
      dist.recv(in, 2);
      dist.send(out, 1);
    }
  });
  REQUIRE(seen.thrown == nullptr);
  const std::optional<StreamHang> hang = find_stream_hang(seen.report.trace);
  REQUIRE(hang.has_value());
  std::vector<int> ranks;
  std::vector<bool> queued;
  for (const StreamWait& wait : hang->circle) {
    ranks.push_back(wait.rank);
    queued.push_back(wait.queued.has_value());
  }
  CHECK(ranks == std::vector<int>{0, 2, 1});
  CHECK(queued == std::vector<bool>{false, false, true});
}

TEST_CASE("the order of streams needs the whole trace") {
  for (const bool trace : {true, false}) {
    RunOptions options = in_stream_order(1);
    options.trace = trace;
    options.events_per_rank = trace ? 5 : -1;
    CHECK(ended_as<InvalidArgument>(observe(options, [](Comm&) {})));
  }
}

TEST_CASE("random programs hang exactly where ranks with real streams deadlock") {
  int ends[3] = {0, 0, 0};
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    const auto ranks = random_calls(seed, /*crossed=*/true);
    if (!ranks) continue;
    CAPTURE(seed);
    const Ends found = end_of(trace_of(*ranks));
    const Ends expected = hangs_on_streams(*ranks, /*buffered=*/true)    ? Ends::kNever
                          : hangs_on_streams(*ranks, /*buffered=*/false) ? Ends::kIfBuffered
                                                                         : Ends::kAlways;
    REQUIRE(static_cast<int>(found) == static_cast<int>(expected));
    ++ends[static_cast<int>(found)];
  }
  for (const int programs : ends) CHECK(programs > 20);
}

TEST_CASE("random programs whose ranks start messages in one order end in that of streams") {
  int programs = 0;
  for (std::uint64_t seed = 1; programs < 10'000; ++seed) {
    const auto ranks = random_calls(seed, /*crossed=*/false);
    if (!ranks) continue;
    CAPTURE(seed);
    REQUIRE_FALSE(find_stream_hang(trace_of(*ranks)).has_value());
    ++programs;
  }
}

}  // namespace
}  // namespace rankbox::testing
