#include "parallel/pipeline_1f1b.h"

#include "parallel/pipeline_gpipe.h"
#include "tests/support/exercise_test.h"
#include "verdict/pipeline/pipeline.h"

namespace rankbox {

// Three micro-batches of 2 samples, 8 floats each: down, up, down, up, down, up, since rank 1 sends
// what it has before it receives more.
RANKBOX_EXERCISE_TEST(Pipeline(pipeline_1f1b, schedule::k1F1B), pipeline_1f1b,
                      "gives every stage the gradients of the whole batch",
                      "(m+p-1)(f+b), in the order promised",
                      "world_size=2,segments=3,count=6,steps=0", /*steps=*/6, /*bytes=*/384,
                      /*reduced=*/0);

TEST_CASE("pipeline_1f1b holds min(m, p-r) micro-batches on rank r") {
  expect_pass(verdict(), "memory");
}

TEST_CASE("GPipe in its place is told which pass comes too early, and that memory is the matter") {
  if (judges_only_values()) return;
  const Verdict verdict = judge("pipeline_1f1b", Pipeline(pipeline_gpipe, schedule::k1F1B));
  REQUIRE(verdict.failure.has_value());
  CHECK(verdict.find("values")->status == CheckStatus::kPass);
  CHECK(verdict.failure->kind == FailureKind::kMemory);
  CHECK(verdict.failure->message.starts_with(
      "micro-batches between forward and backward on rank 0: expected 1 at most, got 3"));
  CHECK(verdict.find("cost")->status == CheckStatus::kFail);
  CHECK(verdict.find("cost")->expected == "backward of micro-batch 0");
  CHECK(verdict.find("cost")->actual == "forward of micro-batch 2");
}

}  // namespace rankbox
