// pipeline_gpipe: all micro-batches forward, then all of them back.
//
// A stage need not wait for a micro-batch to come back before it takes the next one:
//
//   rank 0  F0 F1 F2 ·  ·  ·  ·  ·  ·  B0─── B1─── B2───      a backward pass takes twice as long
//   rank 1  ·  F0 F1 F2 ·  ·  ·  B0─── B1─── B2─── ·  ·
//   rank 2  ·  ·  F0 F1 F2 B0─── B1─── B2─── ·  ·  ·  ·
//           ──────────────────────────────────────────▶ time
//
// The first micro-batch reaches the last rank after p - 1 steps, and its gradient is back after as
// many more; meanwhile some ranks are idle. This is the bubble, and it does not grow with m: the
// more micro-batches, the smaller its share.
//
// A micro-batch's activations stay until its backward: when the last one has gone forward, a stage
// holds those of all m. (pipeline_1f1b holds at most p.)
//
// The order: forward 0, 1, … m-1, then backward 0, 1, … m-1. The paper runs backwards in reverse
// order; bubble and memory are the same, but in this order gradients are added as in the other
// schedules, and equal theirs to the last bit. The paper also keeps a stage's inputs only, and
// computes its activations again before the backward; here nothing is computed twice.
//
// Build on stage.forward, stage.backward, dist.send and dist.recv.
//
// Cost: (m + p - 1)(f + b), of which each rank works m (f + b): it is idle for (p-1)/(m+p-1) of the
// time. 2(p-1)m messages, between neighbours.
// Memory: what m micro-batches leave in a stage.
// Blocks: until the micro-batches have gone through this rank's stage in both directions.
// Difficulty 2/5. Importance 4/5.
// Paper: Huang et al., GPipe: efficient training of giant neural networks using pipeline
// parallelism, NeurIPS 2019.
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
void pipeline_gpipe(Comm& dist, Stage& stage);

}  // namespace rankbox
