// All-reduce on machines of several nodes, as clusters of GPUs do it: reduce-scatter inside each
// node, all-reduce of a piece between the nodes, all-gather inside each node.
//
// Links inside a node are many times faster than those between nodes, and each rank has an adapter
// of its own. So each rank of a node carries its share of the traffic between nodes: of m ranks,
// each all-reduces 1/m of the tensor with its counterparts, the ranks with the same place in the
// other nodes. All of them do so at the same time.
//
//   2 nodes of 2            node 0                          node 1
//                           rank 0          rank 1          rank 2          rank 3
//   before                  a0 a1           b0 b1           c0 c1           d0 d1
//   1. reduce_scatter_ring  a0+b0           a1+b1           c0+d0           c1+d1
//   2. rabenseifner         a0+b0+c0+d0     a1+b1+c1+d1     a0+b0+c0+d0     a1+b1+c1+d1
//                           with rank 2     with rank 3     with rank 0     with rank 1
//   3. allgather_ring       both pieces     both pieces     both pieces     both pieces
//
// The caller makes the communicators, once, with split_by_node (node_grid.h), and every node has as
// many ranks. The three phases are exercises: reduce_scatter_ring and allgather_ring of chapter 5,
// allreduce_rabenseifner of this one. Call them, whether you have written them or not: a check
// takes the course's solutions of all exercises but yours.
//
// All pieces have ⌈N/m⌉ elements, since allgather_ring takes tensors of one size. A tensor that m
// does not divide needs a longer copy, whose elements beyond the end are never looked at.
//
// Cost, with m ranks in each of k nodes: reduce_scatter_ring and allgather_ring of m ranks, and
// between them allreduce_rabenseifner of k ranks with one piece. With p = mk, k a power of two,
// f = (p-1)/p and tensors of n bytes that m divides:
//   (2(m-1) + 2 log2 k)α + 2fnβ + fnγ
// as few bytes as the ring over all ranks. Of these, 2 log2 k α + 2(k-1)/k n/m β are those of links
// between nodes. Where m does not divide the tensor, the bytes and additions are the most that a
// run may have.
// Blocks: until all ranks have called it, and the pieces of this node's ranks are here.
// Difficulty 4/5. Importance 4/5.
// Paper: Cho, Finkler, Kung and Hunter, BlueConnect: Decomposing all-reduce for deep learning on
// heterogeneous network hierarchy, MLSys 2019.
#pragma once

#include "comm/comm.h"

namespace rankbox {

/// `tensor` on every rank becomes the reduction of all ranks' tensors, the same bits everywhere.
/// AVG: add as SUM, and divide once at the very end (collectives/average.h).
///
/// REQUIRES: every rank calls it with the same op, a tensor of the same size, and the communicators
/// of a grid (split_by_node): each of its rows has as many ranks.
/// Errors: MessageMismatch if the sizes differ.
void allreduce_hierarchical(Comm& node, Comm& counterparts, Tensor& tensor, ReduceOp op);

}  // namespace rankbox
