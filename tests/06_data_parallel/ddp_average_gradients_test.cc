#include "parallel/ddp_average_gradients.h"

#include "tests/support/exercise_test.h"
#include "verdict/data_parallel/ddp_average_gradients.h"

namespace rankbox {

TRAINING_EXERCISE_TEST(DdpAverageGradients, ddp_average_gradients,
                       "makes gradients their means, and ranks learn as one",
                       "Ψβ and a latency for each parameter, in all-reduces",
                       "world_size=4,count=12,steps=0", /*steps=*/6, /*bytes=*/320,
                       /*reduced=*/320);

}  // namespace rankbox
