#include "parallel/pipeline_gpipe.h"

#include <doctest/doctest.h>

#include "judge/families.h"
#include "judge/judge.h"
#include "tests/support/run_tests.h"
#include "tests/support/text.h"

namespace rankbox {

namespace {

/// Keeps every output until the end, though it has arrived.
void keeps_outputs(Comm& dist, Stage& stage) {
  std::vector<Tensor> outputs;
  for (int i = 0; i < stage.micro_batches(); ++i) {
    Tensor x = stage.empty_input(i);
    if (!stage.is_first()) dist.recv(x, dist.rank() - 1);
    outputs.push_back(stage.forward(i, std::move(x)));
    if (!stage.is_last()) dist.send(outputs.back(), dist.rank() + 1);
  }
  for (int i = 0; i < stage.micro_batches(); ++i) {
    Tensor dy = stage.empty_output_gradient(i);
    if (!stage.is_last()) dist.recv(dy, dist.rank() + 1);
    const Tensor dx = stage.backward(i, std::move(dy));
    if (!stage.is_first()) dist.send(dx, dist.rank() - 1);
  }
}

}  // namespace

TEST_CASE("keeping what was sent fails by memory, and the message says when") {
  if (judges_only_values()) return testing::pass_over("only the sandbox judges this");
  const Verdict verdict = judge("pipeline_gpipe", subject_in("pipeline", keeps_outputs, "gpipe"));
  REQUIRE(verdict.failure.has_value());
  CHECK(verdict.failure->kind == FailureKind::kMemory);
  CHECK(verdict.failure->rank == 0);
  CHECK(testing::contains(verdict.failure->message, "bytes"));
  CHECK(verdict.find("cost")->status == CheckStatus::kPass);
}

}  // namespace rankbox
