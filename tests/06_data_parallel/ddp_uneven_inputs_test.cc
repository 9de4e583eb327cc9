#include "parallel/ddp_uneven_inputs.h"

#include "tests/support/exercise_test.h"
#include "verdict/data_parallel/ddp_uneven_inputs.h"

namespace rankbox {

// Three steps of 372 bytes of gradients and 8 of the count, and 8 at the end: 16 all-reduces, 1148 bytes.
// Four ranks swap them twice, in butterflies.
TRAINING_EXERCISE_TEST(DdpUnevenInputs, ddp_uneven_inputs,
                       "learns from uneven data what one rank would learn from all of them",
                       "8 bytes and the gradients in every step, and 8 bytes more",
                       "world_size=4,segments=3,count=9", /*steps=*/32, /*bytes=*/2296,
                       /*reduced=*/2296);

}  // namespace rankbox
