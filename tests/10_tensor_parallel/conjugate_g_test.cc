#include "parallel/conjugate_g.h"

#include "tests/support/exercise_test.h"
#include "verdict/tensor_parallel/conjugate.h"

namespace rankbox {

TRAINING_EXERCISE_TEST(ConjugateG, conjugate_g, "adds up forward, and does nothing backward",
                       "an all-reduce forward", "world_size=4,count=5",
                       /*steps=*/2, /*bytes=*/40, /*reduced=*/40);

}  // namespace rankbox
