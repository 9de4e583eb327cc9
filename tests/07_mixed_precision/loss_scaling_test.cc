#include "parallel/loss_scaling.h"

#include "tests/support/exercise_test.h"
#include "verdict/mixed_precision/loss_scaling.h"

namespace rankbox {

TRAINING_EXERCISE_TEST(LossScaling, loss_scaling, "loses nothing to 16 bits",
                       "an all-reduce of every gradient in 32 bits", "world_size=4,count=12",
                       /*steps=*/6, /*bytes=*/320, /*reduced=*/320);

}  // namespace rankbox
