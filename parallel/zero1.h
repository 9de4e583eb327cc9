// zero1: the optimizer's state is sharded; each rank updates its shard for all the others.
//
// Data parallel ranks all hold the same momentum, and all take the same step with it, p times over.
// ZeRO's first stage shards it: rank r has the momentum of its shard only, takes the step for that
// shard, and sends the new values to the others.
//
//                     gradients          mean, my shard       step              new values
//   rank 0            g0 g0 g0 g0   ──┐    G . . .        →   w . . .    ──┐    w w w w
//   rank 1            g1 g1 g1 g1   ──┤    . G . .        →   . w . .    ──┤    w w w w
//   rank 2            g2 g2 g2 g2   ──┤    . . G .        →   . . w .    ──┤    w w w w
//   rank 3            g3 g3 g3 g3   ──┘    . . . G        →   . . . w    ──┘    w w w w
//                              reduce-scatter                        all-gather
//
// An all-reduce is a reduce-scatter and an all-gather. Here the step comes between the two: it
// moves as many bytes as DDP, and keeps 1/p of the state.
//
//   bytes per rank, Ψ parameters           weights   gradients   momentum
//   ddp                                     4Ψ        4Ψ          4Ψ
//   zero1                                   4Ψ        4Ψ          4Ψ/p
//   zero2                                   4Ψ        4Ψ/p        4Ψ/p
//   zero3                                   4Ψ/p      4Ψ/p        4Ψ/p
//
// (Adam's state is twice as large, and mixed precision adds 32-bit weights: the state is most of
// it.)
//
// The number of elements need not be a multiple of p: see parallel/shard.h, which also packs
// parameters into one flat tensor and back.
//
// Build on dist.reduce_scatter and dist.all_gather, once each, of all parameters together.
//
// Cost: the native reduce-scatter and the native all-gather of p ⌈Ψ/p⌉ elements: 2Ψ.
// Memory: besides what it is given, one flat tensor of all parameters, and the shard's gradient.
// When it returns, only the shard's gradient stays.
// Blocks: until all ranks have called it.
// Difficulty 2/5. Importance 5/5.
// Paper: Rajbhandari et al., ZeRO: memory optimizations toward training trillion parameter models,
// SC 2020, section 5.1.
#pragma once

#include <vector>

#include "comm/comm.h"
#include "parallel/shard.h"
#include "training/optimizer.h"

namespace rankbox {

/// One step of the optimizer with the mean of all ranks' gradients: the parameters' values are then
/// the same on all ranks, and `shard` is this rank's piece of them. Gradients are unchanged, or
/// zero, or empty.
///
/// @param parameters with this rank's gradients; one that is empty counts as zeros
/// @param shard this rank's piece of the parameters' values; its gradient is overwritten
/// @param optimizer changes shard.mine, as its gradient says, and nothing else
/// REQUIRES: every rank calls it with parameters of the same sizes in the same order, the same
/// values, and at least one element.
void zero1(Comm& dist, const std::vector<Parameter*>& parameters, Shard& shard,
           Optimizer& optimizer);

}  // namespace rankbox
