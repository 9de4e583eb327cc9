#include "parallel/pipeline_interleaved.h"

#include "tests/support/exercise_test.h"
#include "verdict/pipeline/interleaved_pipeline.h"

namespace rankbox {

// Two micro-batches of one sample, 8 floats each: the first one comes up while the second goes down.
RANKBOX_EXERCISE_TEST(InterleavedPipeline(pipeline_interleaved), pipeline_interleaved,
                      "gives every chunk the gradients of the whole batch",
                      "(v m + p-1)(f+b), in the order promised",
                      "world_size=2,segments=2,count=2,steps=0,chunks=1", /*steps=*/3,
                      /*bytes=*/96, /*reduced=*/0);

TEST_CASE("pipeline_interleaved holds what its warm-up leaves, and a few messages") {
  expect_pass(verdict(), "memory");
}

}  // namespace rankbox
