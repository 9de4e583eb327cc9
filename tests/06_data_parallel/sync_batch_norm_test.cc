#include "parallel/sync_batch_norm.h"

#include "tests/support/exercise_test.h"
#include "verdict/data_parallel/sync_batch_norm.h"

namespace rankbox {

TRAINING_EXERCISE_TEST(SyncBatchNorm, sync_batch_norm,
                       "normalizes over all ranks' samples, forward and backward",
                       "two all-reduces of sums", "world_size=4,count=12", /*steps=*/4,
                       /*bytes=*/208,
                       /*reduced=*/208);

}  // namespace rankbox
