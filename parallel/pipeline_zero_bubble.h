// pipeline_zero_bubble: 1F1B whose bubble is filled with gradients of weights (ZB-H1).
//
// A backward pass computes two things. The previous stage waits for the derivative by the input, B.
// No rank waits for the gradients of the weights, W, before the optimizer's step. With B alone on
// the way up, gradients arrive earlier; and each W fills a hole that 1F1B has.
//
//   1. warm-up    min(m, p-1-r) micro-batches forward
//   2. steady     one forward, one backward (B), until all m are forward
//   3. cool-down  the other backwards (B)
//   after B of micro-batch i >= r: W of micro-batch i - r
//   4. the rest   the last min(m, r) W
//
//   rank 0  F0 F1 F2 ·  ·  B0 W0 F3 B1 W1 B2 W2 B3 W3
//   rank 1  ·  F0 F1 ·  B0 F2 B1 W0 F3 B2 W1 B3 W2 W3
//   rank 2  ·  ·  F0 B0 F1 B1 F2 B2 W0 F3 B3 W1 W2 W3
//           ─────────────────────────────────────────▶ time
//
// F, B and W each run in the order 0, 1, … m-1. Rank r owes the W of up to r micro-batches, so each
// of the p ranks holds what rank 0 of 1F1B does: min(m, p) micro-batches, from F until W.
//
// A rank below may be one W ahead of the rank above. A send that blocks until it is received then
// makes it wait where W could run: start the send with isend, and wait for it after W.
//
// Build on stage.forward, stage.backward_input, stage.backward_weights, dist.send, dist.recv,
// dist.sendrecv, dist.isend and dist.wait_all.
//
// Cost: where F, B and W take one unit each, 3m + p-1 units for m >= p: each rank is idle for
// (p-1)(F+B-W), a third of 1F1B's (p-1)(F+B+W). With m < p it is idle for 2p-1-m units.
// 2(p-1)m messages, between neighbours.
// Memory: what min(m, p) micro-batches leave in stage r: from F to B what forward saved, from B to
// W the input and the output's derivative of each Linear.
// Blocks: until the micro-batches have gone through this rank's stage in both directions.
// Difficulty 4/5. Importance 3/5.
// Paper: Qi et al., Zero bubble pipeline parallelism, ICLR 2024, section 2.1.
#pragma once

#include "comm/comm.h"
#include "parallel/stage.h"

namespace rankbox {

/// Afterwards every micro-batch has made its three passes through every stage, in the order above,
/// and the gradients of each stage's parameters are those of the mean loss over all micro-batches,
/// to the last bit those of pipeline_1f1b.
///
/// @param stage number rank() of world_size()
/// REQUIRES: every rank's stage is loaded with the same micro-batches; gradients are empty or zero.
/// Errors: those of Stage and of the messages.
void pipeline_zero_bubble(Comm& dist, Stage& stage);

}  // namespace rankbox
