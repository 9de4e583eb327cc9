#include "parallel/dynamic_loss_scaling.h"

#include "tests/support/exercise_test.h"
#include "verdict/mixed_precision/dynamic_loss_scaling.h"

namespace rankbox {

TRAINING_EXERCISE_TEST(DynamicLossScaling, dynamic_loss_scaling, "skips on all ranks or on none",
                       "one all-reduce of one number a step", "world_size=4,count=5,steps=3",
                       /*steps=*/6, /*bytes=*/24, /*reduced=*/24);

}  // namespace rankbox
