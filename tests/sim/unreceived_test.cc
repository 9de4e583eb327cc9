// Unfinished operations: which one is named, and what becomes of the ranks that wait for it.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/sim/observe.h"

namespace rankbox::testing {
namespace {

void check_unreceived(const Observation& seen, int rank, const std::string& op, int peer,
                      int line) {
  INFO(what_of(seen.thrown));
  const auto error = require_error<UnreceivedMessage>(seen);
  CHECK(error.rank() == rank);
  CHECK(error.op() == op);
  CHECK(error.peer() == peer);
  CHECK(error.line() == line);
  CHECK(is_file(error.file(), "unreceived_test.cc"));
  CHECK(contains(error.what(), place_of(error)));
  CHECK(contains(error.what(), "rank " + std::to_string(rank)));
  for (const std::exception_ptr& ended : seen.ranks) CHECK(ended == nullptr);
}

TEST_CASE("of several, the lowest rank's first is named, and how many more there are") {
  for_each_schedule(4, [&](std::uint64_t seed) {
    int line = 0;
    const Observation seen = observe(
        {.world_size = 4, .buffering = Buffering::unbounded(), .seed = seed}, [&](Comm& dist) {
          Comm reversed = dist.split(0, -dist.rank());
          Tensor tensor = zeros(2);
          if (dist.rank() == 1) {
            line = __LINE__ + 1;
            dist.send(tensor, 0);
            dist.send(tensor, 0);
            dist.send(tensor, 2);
          }
          if (dist.rank() == 3) reversed.send(tensor, 1);
          if (dist.rank() == 0) dist.recv(tensor, 1);
        });
    // Rank 0 received the first of the two: the second line remains.
    check_unreceived(seen, 1, "send", 0, line + 1);
    CHECK(contains(what_of(seen.thrown), "2 more"));
  });
}

TEST_CASE("requests that were matched, but never waited for") {
  for (Buffering buffering : {Buffering::rendezvous(), Buffering::unbounded()}) {
    int line = 0;
    const Observation seen = observe({.world_size = 2, .buffering = buffering}, [&](Comm& dist) {
      Tensor tensor = zeros(2);
      if (dist.rank() == 0) {
        line = __LINE__ + 1;
        const Request request = dist.isend(tensor, 1);
        dist.barrier();  // by now it is received
      } else {
        dist.recv(tensor, 0);
        dist.barrier();
      }
    });
    check_unreceived(seen, 0, "isend", 1, line);
  }
  int line = 0;
  const Observation seen = observe({.world_size = 2}, [&](Comm& dist) {
    Tensor tensor = zeros(2);
    Tensor other = zeros(2);
    if (dist.rank() == 0) {
      dist.all_reduce(tensor);
    } else {
      line = __LINE__ + 1;
      const Request request = dist.all_reduce_async(tensor);
      dist.send(other, 0);
    }
    if (dist.rank() == 0) dist.recv(other, 1);
  });
  check_unreceived(seen, 1, "all_reduce_async", -1, line);
}

TEST_CASE("requests that outlive their world are closed with it") {
  std::vector<Request> kept;
  const Observation seen = observe({.world_size = 2}, [&](Comm& dist) {
    Tensor tensor = zeros(2);
    if (dist.rank() == 0) kept.push_back(dist.irecv(tensor, 1));
    Tensor other = zeros(2);
    if (dist.rank() == 0) kept.push_back(dist.all_reduce_async(other));
  });
  CHECK(ended_as<UnreceivedMessage>(seen));
  kept.clear();  // accesses nothing of the destroyed world
}

TEST_CASE("a request that is thrown away at once is the cause, not who then waits for it in vain") {
  for (const bool partner_is_there : {true, false}) {
    for_each_schedule(4, [&](std::uint64_t seed) {
      int line = 0;
      const Observation seen = observe({.world_size = 3, .seed = seed}, [&](Comm& dist) {
        Tensor tensor = zeros(2);
        if (!partner_is_there) dist.barrier();
        if (dist.rank() == 1) {
          line = __LINE__ + 1;
          const Request request = dist.isend(tensor, 2);
        }
        if (dist.rank() == 2) dist.recv(tensor, 1);
        Tensor other = zeros(2);
        if (dist.rank() != 1) dist.sendrecv(tensor, 2 - dist.rank(), other, 2 - dist.rank());
      });
      INFO(what_of(seen.thrown));
      const auto error = require_error<UnreceivedMessage>(seen);
      CHECK(error.rank() == 1);
      CHECK(error.op() == "isend");
      CHECK(error.line() == line);
    });
  }
}

TEST_CASE("requests of ranks that a deadlock unwinds are not held against them") {
  const Observation seen = observe({.world_size = 2}, [](Comm& dist) {
    Tensor a = zeros(2);
    Tensor b = zeros(2);
    const Request request = dist.irecv(a, 1 - dist.rank());
    dist.recv(b, 1 - dist.rank());
    dist.wait(request);
  });
  INFO(what_of(seen.thrown));
  require_error<DeadlockError>(seen);
}

TEST_CASE(
    "a collective that was thrown away is the cause, and the next one does not make up for it") {
  for (int late : {0, 1}) {  // the last to arrive at the second collective
    const Observation seen = observe({.world_size = 2}, [&](Comm& dist) {
      Tensor tensor = zeros(2);
      if (dist.rank() == 0) {
        { const Request request = dist.all_reduce_async(tensor); }
        dist.send(tensor, 1);
      } else {
        dist.recv(tensor, 0);
      }
      delay(dist, late, 0.02);
      dist.all_reduce(tensor);  // rank 0's second, rank 1's first
    });
    CAPTURE(late);
    INFO(what_of(seen.thrown));
    const auto error = require_error<UnreceivedMessage>(seen);
    CHECK(error.rank() == 0);
    CHECK(error.op() == "all_reduce_async");
    // They still wait for each other, one in its first collective and one in its second.
    for (const std::exception_ptr& ended : seen.ranks) CHECK(error_as<DeadlockError>(ended));
  }
}

TEST_CASE(
    "a message whose receive was thrown away does not meet the next one; those before arrive") {
  for (int dropped : {0, 1, 2}) {
    for_each_schedule(2, [&](std::uint64_t seed) {
      CAPTURE(dropped);
      int line = 0;
      std::vector<float> arrived;
      const Observation seen = observe({.world_size = 2, .seed = seed}, [&](Comm& dist) {
        std::vector<Tensor> boxes;
        for (int i = 0; i < 3; ++i) boxes.push_back(full(1 + i, static_cast<float>(dist.rank())));
        if (dist.rank() == 0) {
          dist.barrier();  // the receives are posted, and one is dropped
          for (const Tensor& box : boxes) dist.send(box, 1);
          return;
        }
        for (Tensor& box : boxes) box = full(box.shape(), -1.0f);
        std::vector<Request> requests;
        line = __LINE__ + 1;
        for (Tensor& box : boxes) requests.push_back(dist.irecv(box, 0));
        requests.erase(requests.begin() + dropped);
        dist.barrier();
        try {
          dist.wait_all(requests);
        } catch (...) {
          requests.clear();  // until then no call reads what was not delivered
          for (const Tensor& box : boxes) arrived.push_back(to_host(box).back());
          throw;
        }
      });
      INFO(what_of(seen.thrown));
      const auto error = require_error<UnreceivedMessage>(seen);
      CHECK(error.rank() == 1);
      CHECK(error.op() == "irecv");
      CHECK(error.line() == line);
      CHECK(error_as<DeadlockError>(seen.ranks[0]));
      if (dropped == 2) return;  // everything that it waits for arrived
      for (int i = 0; i < 3; ++i)
        CHECK(arrived.at(static_cast<std::size_t>(i)) == (i < dropped ? 0.0f : -1.0f));
    });
  }
}

}  // namespace
}  // namespace rankbox::testing
