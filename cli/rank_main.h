// The contract of a user's program.
//
// `./rankbox run FILE --ranks P` starts P ranks, and each of them runs rank_main.
//
//   #include "cli/rank_main.h"
//
//   namespace rankbox {
//   void rank_main(Comm& dist) {
//     Tensor mine = full({4}, 1.0f);
//     dist.all_reduce(mine, ReduceOp::SUM);
//   }
//   }  // namespace rankbox
//
// Errors: an exception of any rank ends the run, and is reported with its rank and line.
#pragma once

#include "comm/comm.h"

namespace rankbox {

void rank_main(Comm& dist);

}  // namespace rankbox
