#include <algorithm>
#include <thread>

#include <doctest/doctest.h>

#include "judge/race/variants.h"
#include "tests/support/run_tests.h"

namespace rankbox {
namespace {

TEST_CASE("the unfixed race loses updates within a few runs") {
  // With one core, threads collide only when one is interrupted between its load and its store.
  if (std::thread::hardware_concurrency() < 2) return testing::pass_over("one core");
  constexpr int kMostRuns = 50;
  int runs = 0;
  bool lost = false;
  while (!lost && runs < kMostRuns) {
    ++runs;
    lost = race_unfixed({2, 1'000'000}).final_value != 0;
  }
  CAPTURE(runs);
  CHECK(lost);
}

TEST_CASE("the optimizer leaves the updates in: more of them take longer") {
  const auto quickest = [](std::int64_t repeats) {
    double seconds = 1e9;
    for (int run = 0; run < 5; ++run)
      seconds = std::min(seconds, race_unfixed({2, repeats}).seconds);
    return seconds;
  };
  // If the loop were merged into one addition, 200 times the updates would take the same time, a
  // few microseconds. No machine makes ten updates per nanosecond.
  CHECK(quickest(20'000'000) > 20'000'000 * 0.1e-9);
}

TEST_CASE("what is lost is a multiple of the amount, and a delay loses updates of short runs") {
  if (std::thread::hardware_concurrency() < 2) return testing::pass_over("one core");
  constexpr int kMostRuns = 50;
  bool lost = false;
  for (int run = 0; run < kMostRuns && !lost; ++run) {
    const std::int64_t value = race_unfixed({2, 200, 7, 20'000}).final_value;
    CHECK(value % 7 == 0);
    lost = value != 0;
  }
  CHECK(lost);
}

TEST_CASE("without updates there is nothing to lose") {
  CHECK(race_unfixed({2, 0}).final_value == 0);
}

}  // namespace
}  // namespace rankbox
