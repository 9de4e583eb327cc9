// Exchange: two partners swap tensors.
//
//                      rank 0            rank 1
//   before   mine      A                 B
//            theirs    ·                 ·
//   after    theirs    B                 A
//
// This is the first program that hangs. "Send mine, then receive theirs" reads well, but both
// partners run the same line at the same time: each waits in send until the other receives, and
// neither gets that far.
//
//   rank 0  send ──waits for──▶ rank 1 to receive
//   rank 1  send ──waits for──▶ rank 0 to receive       a circle: neither ever moves
//
// It may still work on a machine that copies small messages aside so that send can return early.
// The same program hangs when the messages grow or the machine changes. No program should depend on
// that.
//
// Cost: α + nβ for tensors of n bytes: links carry both directions at once. (Taking turns is safe
// too, but is not this cost: 2α + 2nβ.)
// Blocks: until both messages have arrived.
// Difficulty 1/5. Importance 4/5.
// Paper: the rendezvous is Hoare, Communicating sequential processes, CACM 21 (1978).
#pragma once

#include "comm/comm.h"

namespace rankbox {

/// `theirs` becomes a copy of the partner's `mine`. A rank that is its own partner copies `mine` to
/// `theirs`.
///
/// REQUIRES: my partner's partner is me; all four tensors have one size; `mine` and `theirs` are
/// not the same tensor.
/// Errors: InvalidArgument if there is no rank `partner`; MessageMismatch if the sizes differ.
void exchange(Comm& dist, const Tensor& mine, Tensor& theirs, int partner);

}  // namespace rankbox
