#include "parallel/ddp_init_broadcast.h"

#include "tests/support/exercise_test.h"
#include "verdict/data_parallel/ddp_init_broadcast.h"

namespace rankbox {

TRAINING_EXERCISE_TEST(DdpInitBroadcast, ddp_init_broadcast, "gives every rank rank 0's model",
                       "a native broadcast of every tensor", "world_size=4,count=12", /*steps=*/10,
                       /*bytes=*/512,
                       /*reduced=*/0);

}  // namespace rankbox
