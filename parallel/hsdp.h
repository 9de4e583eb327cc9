// hsdp: hybrid sharded data parallelism. Weights are sharded inside a node, and replicated between
// nodes.
//
// zero3 over all ranks gathers every layer over the links between nodes, which are many times
// slower than those inside. A node's ranks together can often hold the model, so each node keeps a
// whole copy: a shard on each of its s ranks. Gathers and reduce-scatters stay inside the node.
// Only the gradient of a rank's shard crosses, in an all-reduce among its counterparts: the ranks
// of the same place in the m nodes, which hold the same shard. PyTorch: fully_shard on a mesh of
// (replicate, shard); FSDP1's HYBRID_SHARD.
//
//   p = 6, s = 3           shard 0     shard 1     shard 2
//   node 0                 rank 0      rank 1      rank 2       the node: gathers, reduce-scatters
//   node 1                 rank 3      rank 4      rank 5
//                            ╰ counterparts: mean of the shard's gradient ╯
//
// The rows and columns of this mesh are communicators. Each split is a collective of all ranks, and
// on NCCL takes milliseconds to seconds: both are made once, before the first step.
//
//   the layer, forward     all-gather in the node, forward, drop
//   the layer, backward    all-gather in the node, backward, drop, reduce-scatter in the node
//                          (mean), all-reduce of the shard's gradient among the counterparts (mean)
//   then                   the optimizer's step. Nothing is sent back: every node has taken it.
//
// As in zero3, the values of the model's parameters are empty when this is called, and when it
// returns. Shard::shapes has their shapes. Layers without parameters take part in no collective.
//
// Build on dist.split (twice, also where a row or a column is a single rank), model.layer(i), and
// in each layer twice all_gather, once reduce_scatter, once all_reduce.
//
// Cost: two splits over p ranks. In each step, for every layer: twice the native all-gather over s
// ranks, its reduce-scatter, and the native all-reduce of a shard over m ranks.
// A rank sends 3(s-1)/s Ψ inside its node and 2(m-1)/m Ψ/s to others, where zero3 over all ranks
// passes 3(p-1)/p Ψ through each node's border.
// Memory: as zero3 over s ranks: besides what it is given and what forward saves, one layer's
// weights, its gradients, one flat tensor of that size, and the shards' gradients.
// Blocks: until all ranks have called it.
// Difficulty 3/5. Importance 4/5.
// Paper: Zhao et al., PyTorch FSDP, VLDB 2023, section 3.2.2.
#pragma once

#include <vector>

#include "comm/comm.h"
#include "parallel/shard.h"
#include "training/data/dataset.h"
#include "training/optimizer.h"
#include "training/sequential.h"

namespace rankbox {

/// Takes a step of training for each batch, in order: forward, loss, backward, and one step of the
/// optimizer with the mean of all ranks' gradients.
///
/// @param batches this rank's share of each step's batch, of the same size on all ranks
/// @param shards of each layer, as for zero3, but of ranks_per_node ranks: this rank has number
/// rank() % ranks_per_node of its node
/// @param ranks_per_node divides world_size(); the ranks of a node follow each other
/// @param optimizer changes all shards' `mine`, as their gradients say, and nothing else
/// REQUIRES: every rank calls it with a model of the same layers, as many batches and the same
/// ranks_per_node; the copies of a shard are equal.
void hsdp(Comm& dist, Sequential& model, const std::vector<Batch>& batches,
          std::vector<Shard>& shards, int ranks_per_node, Optimizer& optimizer);

}  // namespace rankbox
