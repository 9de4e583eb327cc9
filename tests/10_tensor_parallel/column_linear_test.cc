#include "parallel/column_linear.h"

#include "tests/support/exercise_test.h"
#include "verdict/tensor_parallel/column_linear.h"

namespace rankbox {

TRAINING_EXERCISE_TEST(ColumnLinear, column_linear, "makes a rank's columns of y, and all of dx",
                       "an all-reduce of dx", "world_size=4,count=5",
                       /*steps=*/2, /*bytes=*/120, /*reduced=*/120);

}  // namespace rankbox
