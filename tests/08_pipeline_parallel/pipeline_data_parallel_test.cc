#include "parallel/pipeline_data_parallel.h"

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "judge/families.h"
#include "judge/judge.h"
#include "parallel/pipeline_1f1b.h"
#include "tests/support/run_tests.h"
#include "tests/support/text.h"

namespace rankbox {

namespace {

void without_average(Comm& dist, Stage& stage, int stages) {
  Comm pipeline = dist.split(dist.rank() / stages, dist.rank());
  pipeline_1f1b(pipeline, stage);
}

}  // namespace

TEST_CASE("a replica that trains alone: the message says that the others' gradients are missing") {
  if (launch().processes == 1) return testing::pass_over("one process");
  const Verdict verdict =
      judge("pipeline_data_parallel", subject_in("pipeline_data_parallel", without_average));
  REQUIRE(verdict.failure.has_value());
  CHECK(verdict.failure->kind == FailureKind::kValues);
  CHECK(testing::contains(verdict.failure->message, "gradient"));
}

}  // namespace rankbox
