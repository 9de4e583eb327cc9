// model_parallel: a model that is too large for one rank.
//
// Each rank has a stage, some layers of the model. A micro-batch goes through all stages forward
// and all the way back before the next one starts:
//
//   rank 0   F0 ·  ·  B0    F1 ·  ·  B1
//   rank 1   ·  F0 B0 ·     ·  F1 B1 ·
//            ─────────────────────────────▶ time
//
// A rank holds 1/p of the model. But only one rank works at a time: of p ranks, p - 1 are always
// idle. With a single micro-batch this is plain model parallelism; the pipelines that follow keep
// the ranks busy.
//
// Build on stage.forward, stage.backward, dist.send and dist.recv (parallel/stage.h shows how).
//
// Cost: m p (f + b), where f and b are one stage's forward and backward of one of m micro-batches;
// and 2(p-1)m messages, between neighbours.
// Memory: what one micro-batch leaves in a stage.
// Blocks: until the micro-batches have gone through this rank's stage in both directions.
// Difficulty 1/5. Importance 3/5.
// Paper: Dean et al., Large scale distributed deep networks, NIPS 2012.
#pragma once

#include "comm/comm.h"
#include "parallel/stage.h"

namespace rankbox {

/// Afterwards every micro-batch has gone forward and backward through every stage, and the
/// gradients of each stage's parameters are those of the mean loss over all micro-batches.
///
/// @param stage number rank() of world_size()
/// REQUIRES: every rank's stage is loaded with the same micro-batches; gradients are empty or zero.
/// Errors: those of Stage and of the messages.
void model_parallel(Comm& dist, Stage& stage);

}  // namespace rankbox
