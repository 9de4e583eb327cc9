// zero3: the weights are sharded, too: a layer is whole only while it is at work.
//
// Between steps a rank holds its shards and nothing else. On the way forward, and again on the way
// back, a layer's weights are gathered just before the layer needs them, and dropped right after.
// So a model may be p times as large as what fits on one rank; the price is one more all-gather of
// all weights. PyTorch calls it FSDP: FSDP1 has such flat shards, FSDP2 (fully_shard) shards each
// parameter by rows.
//
//   forward    fc1        fc2        fc3      loss   fc3          fc2          fc1       backward
//   holds      ████       ████       ████            ████         ████         ████
//              gather,    gather,    gather,         gather,      gather,      gather,
//              compute,   compute,   compute,        compute,     compute,     compute,
//              drop       drop       drop            reduce-      reduce-      reduce-
//                                                    scatter,     scatter,     scatter,   then
//                                                    drop         drop         drop       the step
//
// The values of the model's parameters are empty when this is called, and when it returns.
// Shard::shapes has their shapes: unpack_values gives them memory again.
//
// Build on model.layer(i), dist.all_gather (twice for every layer that has parameters; even for the
// last one, though a library would keep it) and dist.reduce_scatter (once).
//
// Cost: twice the native all-gather of every layer, and once its native reduce-scatter: 3Ψ.
// Memory: besides what it is given and what forward saves, one layer's weights, its gradients, one
// flat tensor of that size, and the shards' gradients. When it returns, only the latter stay.
// Blocks: until all ranks have called it.
// Difficulty 4/5. Importance 5/5.
// Paper: Rajbhandari et al., ZeRO, SC 2020, section 5.3; Zhao et al., PyTorch FSDP, VLDB 2023.
#pragma once

#include <vector>

#include "comm/comm.h"
#include "parallel/shard.h"
#include "training/cross_entropy.h"
#include "training/data/dataset.h"
#include "training/optimizer.h"
#include "training/sequential.h"

namespace rankbox {

/// One step of training: forward, loss, backward, and one step of the optimizer with the mean of
/// all ranks' gradients. `shards` are then this rank's pieces of the new values. The model's
/// parameters have neither values nor gradients.
///
/// @param batch this rank's share, of the same size on all ranks
/// @param saved belongs to this batch: give it to every layer. Empty before and after the call
/// @param shards as for zero2
/// @param loss becomes that of this rank's share, as cross_entropy computes it, but without its
/// gradient
/// @param optimizer changes all shards' `mine`, as their gradients say, and nothing else
/// REQUIRES: every rank calls it with a model of the same layers.
void zero3(Comm& dist, Sequential& model, const Batch& batch, Saved& saved,
           std::vector<Shard>& shards, Loss& loss, Optimizer& optimizer);

}  // namespace rankbox
