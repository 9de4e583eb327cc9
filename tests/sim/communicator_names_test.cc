// Messages about calls in communicators that split made: which communicator, and whose ranks.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/sim/observe.h"
#include "tests/support/text.h"

namespace rankbox::testing {
namespace {

std::string line(int number) { return std::string(__FILE__) + ":" + std::to_string(number); }

TEST_CASE("a deadlock between two communicators names them by the lines of their splits") {
  for_each_schedule(4, [](std::uint64_t seed) {
    int first = 0;
    int second = 0;
    const Observation seen = observe({.world_size = 2, .seed = seed}, [&](Comm& dist) {
      const bool is_first = dist.rank() == 0;
      if (is_first) first = __LINE__ + 1;
      Comm a = dist.split(0, -dist.rank());
      if (is_first) second = __LINE__ + 1;
      Comm b = dist.split(0);
      Tensor tensor = zeros(1);
      if (is_first) a.send(tensor, 0);
      if (!is_first) b.recv(tensor, 0);
    });
    const auto error = require_error<DeadlockError>(seen);
    // The lower key is the first member: rank 1 in a, rank 0 in b. Both call split on these lines.
    CHECK(lacks(error.what(), {"ranks 1 and 0 of the communicator split at " + line(first),
                               "ranks 1 and 0 of the communicator split at " + line(second),
                               "communicator, and these differ"}) == "");
  });
}

TEST_CASE("a deadlock between the world and a part of it names both") {
  const Observation seen = observe({.world_size = 2}, [](Comm& dist) {
    Comm part = dist.split(0);
    Tensor tensor = zeros(1);
    if (dist.rank() == 0) dist.send(tensor, 1);
    if (dist.rank() == 1) part.recv(tensor, 0);
  });
  const auto error = require_error<DeadlockError>(seen);
  CHECK(lacks(error.what(), {"in the world", "ranks 1 and 0 of the communicator split at"}) == "");
}

TEST_CASE("without split no message speaks of communicators") {
  const Observation seen = observe({.world_size = 2}, [](Comm& dist) {
    Tensor tensor = zeros(1);
    dist.recv(tensor, 1 - dist.rank());
  });
  const auto error = require_error<DeadlockError>(seen);
  CHECK_FALSE(contains(error.what(), "communicator split"));
  CHECK_FALSE(contains(error.what(), "in the world"));
}

TEST_CASE("communicators that one line made are told apart, by their ranks or by their order") {
  for_each_schedule(4, [](std::uint64_t seed) {
    const Observation seen = observe({.world_size = 2, .seed = seed}, [&](Comm& dist) {
      std::vector<Comm> parts;
      for (int i = 0; i < 4; ++i) parts.push_back(dist.split(0));
      Tensor tensor = zeros(1);
      if (dist.rank() == 0) parts[3].send(tensor, 1);
      if (dist.rank() == 1) parts[1].recv(tensor, 0);
    });
    CHECK(lacks(require_error<DeadlockError>(seen).what(),
                {"the 4th time, of world ranks 0 and 1", "the 2nd time, of world ranks 0 and 1"}) ==
          "");
    const Observation halves = observe({.world_size = 4, .seed = seed}, [&](Comm& dist) {
      Comm half = dist.split(dist.rank() % 2);
      Tensor tensor = zeros(1);
      if (dist.rank() % 2 == 1) half.recv(tensor, 1 - half.rank());
    });
    CHECK(lacks(require_error<DeadlockError>(halves).what(), {"of world ranks 1 and 3"}) == "");
  });
}

/// Runs four ranks in two halves, {0, 2} and {1, 3}; `body` gets the half.
template <class Body>
Observation in_halves(int& split, Body body) {
  return observe({.world_size = 4}, [&](Comm& dist) {
    if (dist.rank() == 0) split = __LINE__ + 1;
    Comm half = dist.split(dist.rank() % 2);
    body(dist, half);
  });
}

TEST_CASE("ranks of a part and of the world are told apart in every message") {
  int split = 0;
  const Observation mismatch = in_halves(split, [](Comm& dist, Comm& half) {
    Tensor tensor = zeros(dist.rank());
    if (dist.rank() == 1) half.send(tensor, 1);
    if (dist.rank() == 3) half.recv(tensor, 0);
  });
  const std::string pair = "ranks 0 and 1 of the communicator split at " + line(split);
  CHECK(lacks(require_error<MessageMismatch>(mismatch).what(), {"rank 1", "rank 3", pair}) == "");

  const Observation waits = in_halves(split, [](Comm& dist, Comm& half) {
    Tensor tensor = zeros(1);
    if (dist.rank() == 1) half.recv(tensor, 1);
  });
  CHECK(lacks(require_error<DeadlockError>(waits).what(), {"rank 1", "rank 3", pair}) == "");

  const Observation unreceived =
      observe({.world_size = 4, .buffering = Buffering::unbounded()}, [](Comm& dist) {
        Comm half = dist.split(dist.rank() % 2);
        if (dist.rank() == 1) half.send(zeros(1), 1);
      });
  CHECK(lacks(require_error<UnreceivedMessage>(unreceived).what(),
              {"rank 1", "rank 3", "ranks 0 and 1 of the communicator split at"}) == "");

  const Observation roots = in_halves(split, [](Comm& dist, Comm& half) {
    Tensor tensor = zeros(1);
    half.broadcast(tensor, dist.rank() == 3 ? 1 : 0);
  });
  CHECK(lacks(require_error<CollectiveMismatch>(roots).what(),
              {"root 1", "root 3", "communicator split at " + line(split)}) == "");

  const Observation refused = in_halves(split, [](Comm& dist, Comm& half) {
    if (dist.rank() == 3) half.send(zeros(1), 3);
  });
  const auto error = require_error<InvalidArgument>(refused);
  CHECK(lacks(error.what(), {"rank 3 (rank 1 in this communicator)", "0 to 1"}) == "");
}

}  // namespace
}  // namespace rankbox::testing
