#include <doctest/doctest.h>

#include "judge/race/variants.h"
#include "tests/support/run_tests.h"

namespace rankbox {
namespace {

TEST_CASE("the fixed races end at 0 for every number of threads and repeats") {
  for (const RaceVariant& variant : race_variants().subspan(1)) {
    if (!testing::wants_row(variant.name)) continue;
    for (const int threads : {2, 4, 8, 16}) {
      for (const std::int64_t repeats : {0, 1, 2, 7, 500}) {
        CAPTURE(variant.name);
        CAPTURE(threads);
        CAPTURE(repeats);
        const RaceOutcome run = variant.run({threads, repeats});
        CHECK(run.final_value == 0);
        CHECK(run.seconds >= 0);
      }
    }
  }
}

TEST_CASE("the fixed races end at 0 for every amount, and with a delay before each store") {
  for (const RaceVariant& variant : race_variants().subspan(1)) {
    if (!testing::wants_row(variant.name)) continue;
    for (const std::int64_t amount : {1, 5, 999}) {
      CAPTURE(variant.name);
      CAPTURE(amount);
      const RaceOutcome run = variant.run({4, 50, amount, 2'000});
      CHECK(run.final_value == 0);
      // The delay is a part of each update: those of a thread follow each other.
      CHECK(run.seconds >= 50 * 2'000e-9);
    }
  }
}

TEST_CASE("with a mutex or an atomic, long runs end at 0 too") {
  for (int run = 0; run < 5; ++run) {
    CHECK(race_with_mutex({2, 50'000}).final_value == 0);
    CHECK(race_with_atomic({2, 50'000}).final_value == 0);
  }
}

}  // namespace
}  // namespace rankbox
