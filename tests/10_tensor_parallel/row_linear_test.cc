#include "parallel/row_linear.h"

#include "tests/support/exercise_test.h"
#include "verdict/tensor_parallel/row_linear.h"

namespace rankbox {

TRAINING_EXERCISE_TEST(RowLinear, row_linear, "makes all of y, and a rank's columns of dx",
                       "an all-reduce of y", "world_size=4,count=5",
                       /*steps=*/2, /*bytes=*/120, /*reduced=*/120);

}  // namespace rankbox
