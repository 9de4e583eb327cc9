#include "parallel/model_parallel.h"

#include "tests/support/exercise_test.h"
#include "verdict/pipeline/pipeline.h"

namespace rankbox {

// Two micro-batches of 2 samples, stages of 8, 7 and 3 outputs: 64 and 56 bytes down, and as many up, one
// after the other.
RANKBOX_EXERCISE_TEST(Pipeline(model_parallel, schedule::kModelParallel), model_parallel,
                      "gives every stage the gradients of the whole batch",
                      "the time of one rank, and (p-1)/p of all time is idle",
                      "world_size=3,segments=2,count=4,steps=0", /*steps=*/8, /*bytes=*/480,
                      /*reduced=*/0);

TEST_CASE("model_parallel holds one micro-batch at a time") { expect_pass(verdict(), "memory"); }

}  // namespace rankbox
