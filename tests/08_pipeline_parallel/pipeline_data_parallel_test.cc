#include "parallel/pipeline_data_parallel.h"

#include "comm/run_ranks.h"
#include "parallel/pipeline_1f1b.h"
#include "tests/support/exercise_test.h"
#include "verdict/pipeline/pipeline_data_parallel.h"

namespace rankbox {

// Two splits of two ranks; then a stage of 6 x 3 weights and 3 biases, whose gradients two ranks swap.
RANKBOX_EXERCISE_TEST(PipelineDataParallel(pipeline_data_parallel), pipeline_data_parallel,
                      "gives every stage the mean of all replicas' gradients",
                      "one pipeline's time and one all-reduce of a stage's gradients",
                      "world_size=2,segments=3,count=7,steps=0,replicas=2", /*steps=*/4,
                      /*bytes=*/84, /*reduced=*/84);

TEST_CASE("pipeline_data_parallel holds what pipeline_1f1b holds") {
  expect_pass(verdict(), "memory");
}

namespace {

void without_average(Comm& dist, Stage& stage, int stages) {
  Comm pipeline = dist.split(dist.rank() / stages, dist.rank());
  pipeline_1f1b(pipeline, stage);
}

}  // namespace

TEST_CASE("a replica on its own is told that the others' gradients are missing") {
  if (launch().processes == 1) return;  // there are no others
  const Verdict verdict = judge("pipeline_data_parallel", PipelineDataParallel(without_average));
  REQUIRE(verdict.failure.has_value());
  CHECK(verdict.failure->kind == FailureKind::kValues);
  CHECK(verdict.failure->message.find(
            "that is this replica's own gradient: the others' are missing") != std::string::npos);
}

}  // namespace rankbox
