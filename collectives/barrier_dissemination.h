// Dissemination barrier: no rank leaves before all have arrived, and no rank is the master.
//
// News spreads. In round k each rank tells the rank 2^k after it "I am here, and so is every rank I
// have heard of", and hears the same from the rank 2^k before it. What a rank knows doubles in
// every round:
//
//   p = 5                    rank 0 has heard, directly or not, of
//   round 0   distance 1     0 4
//   round 1   distance 2     0 4 3 2
//   round 2   distance 4     0 4 3 2 1        all ranks (rank 1 told it directly): rank 0 may go
//
// The messages are empty: the arrival of one says it all. p need not be a power of two, because it
// does no harm to hear of a rank twice in the last round.
//
// Cost: ⌈log2 p⌉ α; no bytes.
// Blocks: until every rank has called it.
// Difficulty 2/5. Importance 2/5.
// Paper: Hensgen, Finkel and Manber, Two algorithms for barrier synchronization, Int. J. Parallel
// Prog. 17 (1988).
#pragma once

#include "comm/comm.h"

namespace rankbox {

/// Returns on no rank before it has been called on all of them.
///
/// REQUIRES: every rank of the communicator calls it.
/// Errors: DeadlockError if a rank never does.
void barrier_dissemination(Comm& dist);

}  // namespace rankbox
