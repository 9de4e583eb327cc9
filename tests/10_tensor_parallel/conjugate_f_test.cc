#include "parallel/conjugate_f.h"

#include "tests/support/exercise_test.h"
#include "verdict/tensor_parallel/conjugate.h"

namespace rankbox {

TRAINING_EXERCISE_TEST(ConjugateF, conjugate_f, "adds up backward, and does nothing forward",
                       "an all-reduce backward", "world_size=4,count=5",
                       /*steps=*/2, /*bytes=*/40, /*reduced=*/40);

}  // namespace rankbox
