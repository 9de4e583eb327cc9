// The likely causes that a failed cost names.
#include <vector>

#include <doctest/doctest.h>

#include "judge/judge.h"
#include "judge/verdict_text.h"
#include "tests/support/text.h"

namespace rankbox {

TEST_CASE("native collectives reduce, too: their cost is not taken for a missing reduction") {
  const auto run = [](Comm& dist, const Case&) -> std::optional<Difference> {
    Tensor tensor = zeros(8);
    dist.all_reduce(tensor, ReduceOp::SUM);
    dist.all_reduce(tensor, ReduceOp::SUM);
    return std::nullopt;
  };
  const Subject once = {.cases = [] { return std::vector<Case>{{.world_size = 4, .count = 8}}; },
                        .run = run,
                        .cost =
                            [](const Case&) {
                              return Cost{2, 64, 64};
                            },
                        .natives = Natives::kCollectives};
  const Verdict verdict = judge("once", once);
  INFO(to_text(verdict));
  REQUIRE(verdict.failure);
  CHECK(verdict.failure->kind == FailureKind::kCost);
  CHECK_FALSE(testing::contains(verdict.failure->message, "no reduction"));
}

}  // namespace rankbox
