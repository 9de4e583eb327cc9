#include "parallel/data_parallel.h"

#include "tests/support/exercise_test.h"
#include "verdict/data_parallel/data_parallel.h"

namespace rankbox {

TRAINING_EXERCISE_TEST(DataParallel, data_parallel,
                       "trains the master's model with everybody's help",
                       "all parameters twice, inputs and outputs once, a step",
                       "world_size=4,count=5,steps=1", /*steps=*/22, /*bytes=*/1424,
                       /*reduced=*/424);

}  // namespace rankbox
