#include "parallel/sequence_parallel.h"

#include "tests/support/exercise_test.h"
#include "verdict/tensor_parallel/sequence_parallel.h"

namespace rankbox {

TRAINING_EXERCISE_TEST(SequenceParallel, sequence_parallel,
                       "does what one rank with the whole block and all rows does",
                       "an all-gather and a reduce-scatter in each direction",
                       "world_size=4,count=5",
                       /*steps=*/8, /*bytes=*/840, /*reduced=*/420);

}  // namespace rankbox
