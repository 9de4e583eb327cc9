// fsdp_prefetch: the next layer's weights travel while this layer computes.
//
// In zero3 a rank waits for every gather, and the network is idle while layers compute. But it is
// known which layer comes next. So its gather starts before this layer's pass, and is waited for
// after. The reduce-scatter of a layer's gradients is hidden likewise, by the backward of the layer
// before. PyTorch calls the first half prefetching.
//
//             forward                                backward
//   compute          | fc1   | fc2   | fc3   | fc3      | fc2          | fc1      |
//   network   | g1   | g2    | g3    |       | g2       | r3     g1    | r2       | r1      |
//   whole              fc1     fc2     fc3     fc3        fc2            fc1
//   in flight          fc2     fc3             fc2        fc1
//             |<---->|                                                            |<------->|
//             exposed                                                               exposed
//
// The last layer stays whole between its forward and its backward: it is not gathered again. All
// others are dropped after their forward. While a layer works, the weights of the next one may be
// in flight, and of no other: the gather for a pass starts after the end of the last pass but one.
// Forward of fc3 is followed by backward of fc3, so nothing is gathered meanwhile.
//
// A tensor in flight must stay alive and unchanged until its request has been waited for. At most
// one reduce-scatter is in flight: the one before is waited for, and its tensor freed, before the
// next one is packed.
//
// As in zero3, the values of the model's parameters are empty when this is called, and when it
// returns. Layers without parameters take part in no collective.
//
// Build on model.layer(i), dist.all_gather_async and dist.reduce_scatter_async.
//
// Cost: the native all-gather of every layer, once more of all but the last one, and the native
// reduce-scatter of every layer. In virtual time, where only passes with weights take any:
// gather(first) + Σ max(compute, communication) over all passes + reduce_scatter(first).
// A pass's communication is the gather for the next pass, if it needs one, and in backward the
// reduce-scatter of the pass before.
// Memory: besides what it is given and what forward saves, two layers' weights, one layer's
// gradients, one flat tensor of gradients, and the shards' gradients: one layer more than zero3.
// When it returns, only the latter stay.
// Blocks: until all ranks have called it.
// Difficulty 4/5. Importance 4/5.
// Paper: Zhao et al., PyTorch FSDP, VLDB 2023.
#pragma once

#include <vector>

#include "comm/comm.h"
#include "parallel/shard.h"
#include "training/cross_entropy.h"
#include "training/data/dataset.h"
#include "training/optimizer.h"
#include "training/sequential.h"

namespace rankbox {

/// One step of training, with the arguments and the result of zero3.
///
/// @param batch this rank's share, of the same size on all ranks
/// @param saved belongs to this batch: give it to every layer. Empty before and after the call
/// @param shards as for zero2
/// @param loss becomes that of this rank's share, as cross_entropy computes it, but without its
/// gradient
/// @param optimizer changes all shards' `mine`, as their gradients say, and nothing else
/// REQUIRES: every rank calls it with a model of the same layers.
void fsdp_prefetch(Comm& dist, Sequential& model, const Batch& batch, Saved& saved,
                   std::vector<Shard>& shards, Loss& loss, Optimizer& optimizer);

}  // namespace rankbox
