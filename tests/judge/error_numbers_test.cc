// Errors that a learner's function throws with numbers that no rank and no line has.
#include <limits>
#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "comm/errors.h"
#include "judge/judge.h"
#include "judge/verdict_json.h"

namespace rankbox {

TEST_CASE("a verdict about an error with any numbers can be read") {
  constexpr int kMost = std::numeric_limits<int>::max();
  for (const int number : {-kMost - 1, -2, kMostNumber + 1, kMost}) {
    const auto run = [number](Comm&, const Case&) -> std::optional<Difference> {
      throw Aborted("another one", {number, "", number, "", number});
    };
    const Subject subject = {.cases = [] { return std::vector<Case>{{.world_size = 2}}; },
                             .run = run};
    const Verdict verdict = verdict_from_json(to_json(judge("race", subject)));
    REQUIRE(verdict.failure);
    CHECK(verdict.failure->kind == FailureKind::kCrash);
    CHECK(verdict.failure->message == "another one");
  }
}

}  // namespace rankbox
