// pipeline_1f1b: one forward, one backward, so that activations are freed as soon as possible.
//
// The last rank can start the backward of a micro-batch right after its forward, and the gradient
// travels up the ranks while later micro-batches come down. Stage r admits only as many as fill the
// way to the end and back:
//
//   1. warm-up    min(m, p-1-r) micro-batches forward
//   2. steady     one forward, one backward, until all m are forward
//   3. cool-down  the other backwards
//
//   rank 0  F0 F1 F2 ·  ·  ·  ·  B0─── F3 B1─── ·  B2─── ·  B3───
//   rank 1  ·  F0 F1 ·  ·  B0─── F2 B1─── F3 B2─── ·  B3─── ·  ·
//   rank 2  ·  ·  F0 B0─── F1 B1─── F2 B2─── F3 B3─── ·  ·  ·  ·
//           ──────────────────────────────────────────────────────▶ time
//
// Forwards run in the order 0, 1, … m-1, and so do backwards. The bubble is GPipe's. The memory is
// not: a stage holds the activations of min(m, p-r) micro-batches, however many a step has.
//
// In the steady state a rank sends an activation to the next rank, which has a gradient for it. If
// both send first, both wait: sends may block until they are received (on NCCL at any size).
// sendrecv does both at once.
//
// Build on stage.forward, stage.backward, dist.send, dist.recv and dist.sendrecv.
//
// Cost: (m + p - 1)(f + b): each rank is idle for (p-1)/(m+p-1) of the time.
// 2(p-1)m messages, between neighbours.
// Memory: what min(m, p-r) micro-batches leave in stage r.
// Blocks: until the micro-batches have gone through this rank's stage in both directions.
// Difficulty 4/5. Importance 5/5.
// Paper: Narayanan et al., PipeDream: generalized pipeline parallelism for DNN training, SOSP 2019;
// with all gradients added up before the step, as here: Memory-efficient pipeline-parallel DNN
// training, ICML 2021.
#pragma once

#include "comm/comm.h"
#include "parallel/stage.h"

namespace rankbox {

/// Afterwards every micro-batch has gone forward and backward through every stage, in the order
/// above, and the gradients of each stage's parameters are those of the mean loss over all
/// micro-batches.
///
/// @param stage number rank() of world_size()
/// REQUIRES: every rank's stage is loaded with the same micro-batches; gradients are empty or zero.
/// Errors: those of Stage and of the messages.
void pipeline_1f1b(Comm& dist, Stage& stage);

}  // namespace rankbox
