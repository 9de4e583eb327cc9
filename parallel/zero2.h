// zero2: gradients are sharded, too: each rank keeps the mean of its shard.
//
// A rank that takes the step for its shard alone (zero1) does not need the other gradients. But
// backward computes them all. So each layer's gradients are sent to their owners right after that
// layer's backward, and freed before the layer below computes its own: at any time, a rank holds
// one layer's whole gradients, and its shards' means.
//
//   backward      fc3          fc2          fc1         step           fc1 fc2 fc3
//   holds         ████         ████         ████
//   means         ▌            ▌▌           ▌▌▌         ▌▌▌
//                 reduce-      reduce-      reduce-                    all-gather, layer by layer
//                 scatter      scatter      scatter
//
// There is a shard for each layer now, not one for the whole model: a layer's gradients must be
// sent when no others exist.
//
// Build on model.layer(i).backward, dist.reduce_scatter and dist.all_gather, once each for every
// layer that has parameters. There is one step for all shards, after backward: to clip the norm of
// all gradients, or to skip the step, a rank must have seen them all.
//
// Cost: the native reduce-scatter and the native all-gather of every layer, one after the other:
// 2Ψ.
// Memory: besides what it is given, one layer's gradients, one flat tensor of that size, and the
// shards' gradients. When it returns, only the latter stay.
// Blocks: until all ranks have called it.
// Difficulty 3/5. Importance 4/5.
// Paper: Rajbhandari et al., ZeRO, SC 2020, section 5.2.
#pragma once

#include <vector>

#include "comm/comm.h"
#include "parallel/shard.h"
#include "training/optimizer.h"
#include "training/sequential.h"

namespace rankbox {

/// Backward through all layers, and one step of the optimizer with the mean of all ranks'
/// gradients. The parameters' values are then the same on all ranks, and `shards` are this rank's
/// pieces of them; their gradients are empty.
///
/// @param dy the derivative of this rank's loss by the model's output; taken: move it
/// @param saved what forward left; empty afterwards
/// @param shards one for each layer: this rank's piece of its parameters' values, empty where it
///   has none; their gradients are overwritten
/// @param optimizer changes all shards' `mine`, as their gradients say, and nothing else
/// REQUIRES: every rank calls it with a model of the same layers and values, whose gradients are
/// empty.
void zero2(Comm& dist, Sequential& model, Tensor dy, Saved& saved, std::vector<Shard>& shards,
           Optimizer& optimizer);

}  // namespace rankbox
