// Dissemination barrier: no rank leaves before all have arrived, and no rank is the master.
//
// In round k each rank sends a message to the rank 2^k after it, and receives one from the rank 2^k
// before it. The message means: the sender has arrived, and so have all ranks from which it has a
// message, directly or not. Their number doubles in every round:
//
//   p = 5                    arrived, as far as rank 0 knows
//   round 0   distance 1     0 4
//   round 1   distance 2     0 4 3 2
//   round 2   distance 4     0 4 3 2 1        all ranks (a message of rank 1): rank 0 may return
//
// The messages are empty: that one has come is all that a rank needs. p need not be a power of two,
// because counting a rank twice in the last round does no harm.
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
