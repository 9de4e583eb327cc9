#include "parallel/ddp_no_sync.h"

#include "tests/support/exercise_test.h"
#include "verdict/data_parallel/ddp_no_sync.h"

namespace rankbox {

// 54 + 9 + 27 + 3 parameters are 372 bytes; four ranks swap them twice, in butterflies.
TRAINING_EXERCISE_TEST(DdpNoSync, ddp_no_sync, "adds up micro-batches as if they were one batch",
                       "one synchronization, for any number of micro-batches",
                       "world_size=4,count=9,steps=0,segments=3", /*steps=*/8, /*bytes=*/744,
                       /*reduced=*/744);

}  // namespace rankbox
