// Chapter 1, as an instructor would test it: values and costs that are worked out by hand, then the
// judge's rows. NAME_exercise_test runs a function's test cases on the learner's file.
#include <doctest/doctest.h>

#include "collectives/barrier_dissemination.h"
#include "collectives/exchange.h"
#include "collectives/ping_pong.h"
#include "collectives/race.h"
#include "tests/support/judge_rows.h"
#include "tests/support/on_ranks.h"

namespace rankbox {

namespace {

/// 0 and 1, 2 and 3, … The last rank of an odd number is its own partner.
int partner_of(const Comm& dist) {
  const int partner = dist.rank() ^ 1;
  return partner < dist.world_size() ? partner : dist.rank();
}

Tensor beginning_of(int rank) { return full(6, static_cast<float>(rank)); }

constexpr double kBytes = 6 * sizeof(float);  // of a tensor

Values playing(Comm& dist) {
  Tensor tensor = beginning_of(dist.rank());
  ping_pong(dist, tensor, partner_of(dist));
  return to_host(tensor);
}

Values exchanging(Comm& dist) {
  Tensor theirs = zeros(6);
  exchange(dist, beginning_of(dist.rank()), theirs, partner_of(dist));
  return to_host(theirs);
}

}  // namespace

TEST_CASE("race: judged") { judge_rows("race"); }

TEST_CASE("race: half of the threads add what the others take away") {
  for (const int threads : {2, 4, 16}) {
    CAPTURE(threads);
    SharedValue value;
    race(value, threads, 100);
    CHECK(value.final_value() == 0);
    CHECK(value.uses().size() == static_cast<std::size_t>(threads));
    for (const SharedValue::Use& thread : value.uses()) {
      CHECK(thread.loads == 100);
      CHECK(thread.stores == 100);
    }
  }
}

TEST_CASE("ping_pong: judged") { judge_rows("ping_pong"); }

TEST_CASE("ping_pong: both end with the tensor of the lower rank") {
  CHECK(on_ranks(3, playing) ==
        std::vector<Values>{Values(6, 0.0f), Values(6, 0.0f), Values(6, 2.0f)});
}

TEST_CASE("ping_pong: there and back are two messages, one after the other") {
  CHECK(cost_of(2, playing) == Cost{2, 2 * kBytes, 0});
  CHECK(cost_of(8, playing) == Cost{2, 2 * kBytes, 0});  // four pairs at once
  CHECK(cost_of(1, playing) == Cost{0, 0, 0});
}

TEST_CASE("exchange: judged") { judge_rows("exchange"); }

TEST_CASE("exchange: each ends with the other's tensor") {
  CHECK(on_ranks(3, exchanging) ==
        std::vector<Values>{Values(6, 1.0f), Values(6, 0.0f), Values(6, 2.0f)});
}

TEST_CASE("exchange: both directions at once cost as much as one") {
  CHECK(cost_of(2, exchanging) == Cost{1, kBytes, 0});
  CHECK(cost_of(8, exchanging) == Cost{1, kBytes, 0});
}

TEST_CASE("barrier_dissemination: judged") { judge_rows("barrier_dissemination"); }

TEST_CASE(
    "barrier_dissemination: after k rounds a rank has heard of 2^k ranks, in empty messages") {
  CHECK(cost_of(1, barrier_dissemination) == Cost{0, 0, 0});
  CHECK(cost_of(8, barrier_dissemination) == Cost{3, 0, 0});
  CHECK(cost_of(9, barrier_dissemination) == Cost{4, 0, 0});
}

}  // namespace rankbox
