#include "parallel/exact_metrics.h"

#include "tests/support/exercise_test.h"
#include "verdict/data_parallel/exact_metrics.h"

namespace rankbox {

TRAINING_EXERCISE_TEST(ExactMetrics, exact_metrics, "counts every rank's samples once",
                       "one all-reduce of three numbers", "world_size=4,count=12", /*steps=*/2,
                       /*bytes=*/48,
                       /*reduced=*/48);

}  // namespace rankbox
