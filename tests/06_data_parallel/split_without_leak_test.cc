#include "parallel/split_without_leak.h"

#include "tests/support/exercise_test.h"
#include "verdict/data_parallel/split_without_leak.h"

namespace rankbox {

TRAINING_EXERCISE_TEST(SplitWithoutLeak, split_without_leak,
                       "holds back the same samples on all ranks", "one broadcast of a seed",
                       "world_size=4,count=12", /*steps=*/2, /*bytes=*/16,
                       /*reduced=*/0);

}  // namespace rankbox
