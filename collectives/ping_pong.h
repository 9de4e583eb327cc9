// Ping-pong: one message there and one back; the yardstick of every network.
//
//            rank 0              rank 1
//   step 1   tensor ──────────▶  tensor      the lower rank sends first
//   step 2   tensor ◀──────────  tensor
//
// After it both hold the lower rank's elements. The point is the time it takes: a message of n
// bytes costs α + nβ, so a round trip costs 2(α + nβ). Time it for several n, and a straight line
// through the times gives the machine's α (what any message costs, however small) and β (what each
// byte adds); 1/β is the bandwidth.
//
// Cost: 2α + 2nβ for tensors of n bytes; nothing where a rank is its own partner.
// Blocks: until both messages have arrived.
// Difficulty 1/5. Importance 3/5.
// Paper: Hockney, The communication challenge for MPP, Parallel Computing 20 (1994), which
// introduced the two numbers.
#pragma once

#include "comm/comm.h"

namespace rankbox {

/// One round trip between the caller and `partner`. A rank that is its own partner does nothing.
///
/// REQUIRES: my partner's partner is me, and both of us call it with tensors of one size.
/// Errors: InvalidArgument if there is no rank `partner`; MessageMismatch if the sizes differ.
void ping_pong(Comm& dist, Tensor& tensor, int partner);

}  // namespace rankbox
