#include "parallel/pipeline_1f1b.h"

#include <doctest/doctest.h>

#include "judge/families.h"
#include "judge/judge.h"
#include "parallel/pipeline_gpipe.h"
#include "tests/support/run_tests.h"
#include "tests/support/text.h"

namespace rankbox {

TEST_CASE(
    "GPipe in its place: the message names the pass that comes too early, and the memory limit") {
  if (judges_only_values()) return testing::pass_over("only the sandbox judges this");
  const Verdict verdict = judge("pipeline_1f1b", subject_in("pipeline", pipeline_gpipe, "1f1b"));
  REQUIRE(verdict.failure.has_value());
  CHECK(verdict.find("values")->status == CheckStatus::kPass);
  CHECK(verdict.failure->kind == FailureKind::kMemory);
  CHECK(testing::lacks(verdict.failure->message, {"rank 0", "1", "3"}) == "");
  CHECK(verdict.find("cost")->status == CheckStatus::kFail);
  CHECK(verdict.find("cost")->expected.ends_with("micro-batch 0"));
  CHECK(verdict.find("cost")->actual.ends_with("micro-batch 2"));
}

}  // namespace rankbox
