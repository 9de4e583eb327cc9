#include "parallel/checkpoint_rank0.h"

#include "tests/support/exercise_test.h"
#include "verdict/data_parallel/checkpoint_rank0.h"

namespace rankbox {

TRAINING_EXERCISE_TEST(CheckpointRank0, checkpoint_rank0,
                       "writes once, and gives every rank what was written",
                       "a barrier to save, a broadcast of all to load", "world_size=4,count=5",
                       /*steps=*/10, /*bytes=*/184, /*reduced=*/0);

}  // namespace rankbox
