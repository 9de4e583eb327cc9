#include "parallel/parallel_mlp.h"

#include "tests/support/exercise_test.h"
#include "verdict/tensor_parallel/parallel_mlp.h"

namespace rankbox {

TRAINING_EXERCISE_TEST(ParallelMlpBlock, parallel_mlp,
                       "does what one rank with the whole block does",
                       "an all-reduce of y and one of dx", "world_size=4,count=5,steps=0",
                       /*steps=*/4, /*bytes=*/280, /*reduced=*/280);

}  // namespace rankbox
