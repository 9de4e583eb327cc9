// Ranks that call different collectives: the report names the rank that differs, always the same.
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/sim/observe.h"

namespace rankbox::testing {
namespace {

/// Runs the program under several schedules, which must all report the same mismatch, and returns
/// it.
CollectiveMismatch require_mismatch(int world_size, const std::function<void(Comm&)>& body) {
  std::vector<CollectiveMismatch> seen;
  for_each_schedule(6, [&](std::uint64_t seed) {
    const Observation run = observe({.world_size = world_size, .seed = seed}, body);
    seen.push_back(require_error<CollectiveMismatch>(run));
    CHECK(seen.back().what() == std::string(seen.front().what()));
    CHECK(place_of(seen.back()) == place_of(seen.front()));
    CHECK(seen.back().rank() == seen.front().rank());
  });
  return seen.front();
}

TEST_CASE("the rank that differs from all others comes first, whichever called first") {
  for (const int p : {3, 5, 40}) {
    for (const int odd : {0, 1, p - 1}) {
      for (const int late : {0, odd}) {
        int line = 0;
        const CollectiveMismatch error = require_mismatch(p, [&](Comm& dist) {
          Tensor tensor = zeros(2);
          Tensor piece = zeros(chunk(tensor, dist.rank(), p).size());
          delay(dist, late, 0.001);
          if (dist.rank() != odd) return dist.all_reduce(tensor);
          line = __LINE__ + 1;
          dist.reduce_scatter(tensor, piece);
        });
        CHECK(error.rank() == odd);
        CHECK(error.line() == line);
        CHECK(error.op() == "reduce_scatter");
        const std::string what = error.what();
        CHECK(what.find("reduce_scatter(") < what.find("all_reduce("));
        CHECK(contains(what, "as do " + std::to_string(p - 2) + " more"));
      }
    }
  }
}

TEST_CASE("of two halves that differ the lower rank comes first") {
  for (const int p : {2, 4, 8}) {
    const CollectiveMismatch error = require_mismatch(p, [&](Comm& dist) {
      Tensor tensor = zeros(1);
      dist.broadcast(tensor, dist.rank() < p / 2 ? 0 : 1);
    });
    CHECK(error.rank() == 0);
    for (const std::string& part : {std::string("root 0"), std::string("root 1")})
      CHECK(contains(error.what(), part));
  }
}

TEST_CASE("every rank names itself as the root") {
  const CollectiveMismatch error = require_mismatch(20, [&](Comm& dist) {
    Tensor tensor = zeros(1);
    dist.broadcast(tensor, dist.rank());
  });
  CHECK(error.rank() == 0);
  CHECK(contains(error.what(), "rank 1 calls broadcast(root 1"));
}

TEST_CASE("where more than half agree, the lowest rank that differs from them comes first") {
  // Eight ranks name other roots each, then half of the rest and one more agree.
  const CollectiveMismatch many = require_mismatch(20, [&](Comm& dist) {
    Tensor tensor = zeros(1);
    dist.broadcast(tensor, dist.rank() < 8 ? dist.rank() + 1 : 0);
  });
  CHECK(many.rank() == 0);
  CHECK(contains(many.what(), "rank 8 calls broadcast(root 0"));
  CHECK(contains(many.what(), "as do 11 more"));
  // Two groups of three, and one rank between them: none is more than half.
  const CollectiveMismatch three = require_mismatch(7, [&](Comm& dist) {
    Tensor tensor = zeros(1);
    dist.broadcast(tensor, dist.rank() < 3 ? 0 : dist.rank() == 3 ? 1 : 2);
  });
  CHECK(three.rank() == 0);
  CHECK(contains(three.what(), "rank 3 calls broadcast(root 1"));
}

TEST_CASE("a difference is reported though a rank never calls, or waits for something else") {
  for (const bool returns : {true, false}) {
    const CollectiveMismatch error = require_mismatch(4, [&](Comm& dist) {
      Tensor tensor = zeros(1);
      if (dist.rank() == 3) return returns ? void() : dist.recv(tensor, 0);
      dist.reduce(tensor, dist.rank() == 1 ? 1 : 2);
    });
    CHECK(error.rank() == 1);
  }
}

TEST_CASE("a difference that one rank waits for, where another has not called yet") {
  const CollectiveMismatch error = require_mismatch(3, [](Comm& dist) {
    Tensor tensor = zeros(1);
    const ReduceOp op = dist.rank() == 0 ? ReduceOp::MAX : ReduceOp::MIN;
    if (dist.rank() == 0) return dist.all_reduce(tensor, op);
    Tensor other = zeros(1);
    std::vector<Comm::Request> started;
    if (dist.rank() == 1) started.push_back(dist.all_reduce_async(tensor, op));
    dist.recv(other, 3 - dist.rank());
    dist.wait_all(started);
  });
  CHECK(error.rank() == 0);
}

}  // namespace
}  // namespace rankbox::testing
