#include "parallel/parallel_attention.h"

#include "tests/support/exercise_test.h"
#include "verdict/tensor_parallel/parallel_attention.h"

namespace rankbox {

TRAINING_EXERCISE_TEST(ParallelAttentionBlock, parallel_attention,
                       "does what one rank with all heads does", "an all-reduce of y and one of dx",
                       "world_size=4,count=5",
                       /*steps=*/4, /*bytes=*/960, /*reduced=*/960);

}  // namespace rankbox
