// The likely causes that a failed cost names.
#include <vector>

#include <doctest/doctest.h>

#include "judge/judge.h"
#include "judge/verdict_text.h"

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
  CHECK(verdict.failure->hint.id == "one-after-another");
}

TEST_CASE("the hint about empty messages appears only where chunks are empty") {
  const auto run = [](Comm& dist, const Case& example) -> std::optional<Difference> {
    Tensor tensor = zeros(*example.count);
    if (dist.rank() == 0) dist.send(tensor, 1);
    if (dist.rank() == 1) dist.recv(tensor, 0);
    return std::nullopt;
  };
  for (const std::int64_t count : {2, 8}) {
    const Subject two_messages = {
        .cases = [=] { return std::vector<Case>{{.world_size = 4, .count = count}}; },
        .run = run,
        .cost =
            [](const Case& example) {
              return Cost{2, 4.0 * static_cast<double>(*example.count), 0};
            }};
    const Verdict verdict = judge("two_messages", two_messages);
    INFO(to_text(verdict));
    REQUIRE(verdict.failure);
    CHECK((verdict.failure->hint.id == "empty-chunks-are-sent") == (count < 4));
  }
}

}  // namespace rankbox
