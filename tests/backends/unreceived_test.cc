// Unfinished operations: messages without a receive, requests without a wait.
#include <exception>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/backends/worlds.h"

namespace rankbox::testing {
namespace {

constexpr const char* kHere = "unreceived_test.cc";

RunOptions unbounded(int p) {
  RunOptions options = world(p);
  options.buffering = Buffering::unbounded();
  return options;
}

void check_unreceived(const Observation& seen, int rank, const std::string& op, int peer) {
  const auto error = require_error<UnreceivedMessage>(seen);
  INFO(error.what());
  CHECK(error.rank() == rank);
  CHECK(error.op() == op);
  CHECK(error.peer() == peer);
  CHECK(error.line() == line_of(seen, rank));
  CHECK(is_file(error.file(), kHere));
  CHECK(contains(error.what(), place_of(error)));
  CHECK(contains(error.what(), "rank " + std::to_string(rank)));
}

TEST_CASE("a buffered message that was never received" * doctest::skip(kFailureEndsJob)) {
  for (int p : worlds_that_buffer(2)) {
    for (int count : {3, 100'000}) {
      for (Buffering buffering : {Buffering::eager(4 * count), Buffering::unbounded()}) {
        RunOptions options = world(p);
        options.buffering = buffering;
        const Observation seen = observe(options, [&](Comm& dist, std::string& note) {
          if (dist.rank() != p - 1) return;
          note = std::to_string(__LINE__ + 1);
          dist.send(zeros(count), 0);
        });
        check_unreceived(seen, p - 1, "send", 0);
        CHECK(contains(what_of(seen.thrown), std::to_string(4 * count) + " bytes"));
        for (const std::exception_ptr& ended : seen.ranks) CHECK(ended == nullptr);
      }
    }
  }
}

TEST_CASE("a buffered message that was never received, in a group, beside others that were" *
          doctest::skip(kFailureEndsJob)) {
  for (int p : worlds_that_buffer(2)) {
    const Observation seen = observe(unbounded(p), [&](Comm& dist, std::string& note) {
      Comm reversed = dist.split(0, -dist.rank());
      Tensor tensor = zeros(2);
      if (dist.rank() == 1) {
        dist.send(tensor, 0);
        note = std::to_string(__LINE__ + 1);
        reversed.send(tensor, p - 1);
        dist.send(tensor, 0);
      }
      if (dist.rank() == 0) dist.recv(tensor, 1);
      if (dist.rank() == 0) dist.recv(tensor, 1);
    });
    check_unreceived(seen, 1, "send", 0);
  }
}

TEST_CASE("a request without a wait, though its message was received" *
          doctest::skip(kFailureEndsJob)) {
  for (int p : world_sizes(2)) {
    const Observation seen = observe(world(p), [](Comm& dist, std::string& note) {
      Tensor tensor = zeros(3);
      if (dist.rank() == 0) {
        note = std::to_string(__LINE__ + 1);
        (void)dist.isend(tensor, 1);
      } else if (dist.rank() == 1) {
        try {
          dist.recv(tensor, 0);
        } catch (const Aborted&) {  // the run may have stopped before
        }
      }
    });
    check_unreceived(seen, 0, "isend", 1);
  }
}

TEST_CASE("a receive without a wait, whose message was never sent" *
          doctest::skip(kFailureEndsJob)) {
  for (int p : world_sizes(2)) {
    const Observation seen = observe(world(p), [](Comm& dist, std::string& note) {
      Tensor tensor = zeros(3);
      if (dist.rank() != 1) return;
      note = std::to_string(__LINE__ + 1);
      const Request request = dist.irecv(tensor, 0);
    });
    check_unreceived(seen, 1, "irecv", 0);
  }
}

TEST_CASE("a collective without a wait" * doctest::skip(kFailureEndsJob)) {
  for (int p : world_sizes()) {
    const Observation seen = observe(world(p), [&](Comm& dist, std::string& note) {
      Tensor tensor = zeros(3);
      note = std::to_string(__LINE__ + 1);
      const Request request = dist.all_reduce_async(tensor);
      if (dist.rank() != p - 1) dist.wait(request);
    });
    check_unreceived(seen, p - 1, "all_reduce_async", -1);
  }
}

TEST_CASE("a request kept in a place that outlives the rank's function" *
          doctest::skip(kFailureEndsJob)) {
  for (int p : world_sizes(2)) {
    std::vector<Request> kept(static_cast<std::size_t>(p));
    std::vector<Tensor> boxes;
    for (int i = 0; i < p; ++i) boxes.push_back(zeros(5));
    const Observation seen = observe(world(p), [&](Comm& dist, std::string& note) {
      if (dist.rank() != 0) return;
      note = std::to_string(__LINE__ + 1);
      kept[0] = dist.irecv(boxes[0], 1);
    });
    check_unreceived(seen, 0, "irecv", 1);
  }
}

TEST_CASE("a request that goes with an exception which the rank swallows is missed all the same" *
          doctest::skip(kFailureEndsJob)) {
  for (int p : world_sizes(2)) {
    for (bool goes_on : {false, true}) {
      const Observation seen = observe(world(p), [&](Comm& dist, std::string& note) {
        Tensor tensor = zeros(5);
        try {
          note = std::to_string(__LINE__ + 1);
          const Request request = dist.irecv(tensor, (dist.rank() + 1) % p);
          if (dist.rank() == 0) throw 1;
          dist.wait(request);
        } catch (int) {
        }
        if (goes_on) dist.barrier();
      });
      INFO(what_of(seen.thrown));
      // Others may have been waiting for that rank already.
      CHECK(ended_as<UnreceivedMessage>(seen));
    }
  }
}

TEST_CASE("what was received and waited for leaves nothing behind, in any group") {
  for (int p : worlds_that_buffer(2)) {
    for (int round = 0; round < 10; ++round) {
      const Observation seen = observe(unbounded(p), [](Comm& dist) {
        if (dist.rank() > 1) return (void)dist.split(-1);
        Comm group = dist.split(0, -dist.rank());
        const Tensor out = zeros(2);
        Tensor in = zeros(2);
        dist.send(out, 1 - dist.rank());
        group.send(out, 1 - group.rank());
        dist.wait(dist.irecv(in, 1 - dist.rank()));
        dist.sendrecv(out, 1 - dist.rank(), in, 1 - dist.rank());
        group.recv(in, 1 - group.rank());
      });
      INFO(what_of(seen.thrown));
      CHECK(seen.thrown == nullptr);
    }
  }
}

TEST_CASE("a failure counts more than what it left behind" * doctest::skip(kFailureEndsJob)) {
  for (int p : world_sizes(2)) {
    const Observation seen = observe(unbounded(p), [](Comm& dist) {
      const Tensor tensor = zeros(2);
      if (dist.rank() == 0) dist.send(tensor, 1);
      if (dist.rank() == 1) throw NotImplemented("reduce_tree");
    });
    CHECK(ended_as<NotImplemented>(seen));
  }
}

}  // namespace
}  // namespace rankbox::testing
