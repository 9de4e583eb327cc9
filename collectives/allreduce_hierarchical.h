// All-reduce on machines of several nodes: reduce inside each node, all-reduce between one leader
// per node, broadcast inside each node.
//
// Links inside a node are many times faster than those between nodes, so as little as possible
// should cross the border: one tensor per node, not one per rank.
//
//   2 nodes              node 0                        node 1
//                        rank 0    rank 1    rank 2    rank 3    rank 4
//   before               a         b         c         d         e
//   1. reduce_tree       abc ◀──── b ◀────── c         de ◀───── e
//   2. rabenseifner      abcde ◀─────────────────────▶ abcde      leaders only
//   3. broadcast_tree    abcde ──▶ abcde ──▶ abcde     abcde ──▶ abcde
//
// split(color, key) makes the communicators: one per node, and one of all leaders. Nodes may have
// different numbers of ranks, so an average must not be taken node by node: add up, and let the
// leaders divide by the size of the whole world.
//
// Cost: reduce_tree and broadcast_tree over the ranks of the largest node, allreduce_rabenseifner
// over the nodes, and a barrier's ⌈log2 p⌉ α for each of the two splits. With m = ⌈p/nodes⌉, nodes
// a power of two, f = (nodes-1)/nodes, tensors of n bytes:
//   2(⌈log2 p⌉ + ⌈log2 m⌉ + log2 nodes)α + 2(⌈log2 m⌉ + f)nβ + (⌈log2 m⌉ + f)nγ
// of which only the splits and the parts with log2 nodes and f cost what links between nodes cost.
// (A program that reduces again and again keeps its communicators: on NCCL a split takes
// milliseconds to seconds.)
//
// One leader per node suits nodes that share one line to the others. Where each rank has its own
// adapter, libraries do a reduce-scatter inside the node, an all-reduce of 1/m by each local rank
// with its counterparts, and an all-gather inside the node: chapter 4 compares the two.
// Blocks: until all ranks have called it and the sum is back in this node.
// Difficulty 4/5. Importance 4/5.
// Paper: Kielmann, Hofman, Bal, Plaat and Bhoedjang, MagPIe: MPI's collective communication
// operations for clustered wide area systems, PPoPP 1999.
#pragma once

#include "comm/comm.h"

namespace rankbox {

/// `tensor` on every rank becomes the reduction of all ranks' tensors, the same bits everywhere.
///
/// REQUIRES: every rank calls it with the same op and a tensor of the same size.
/// Errors: MessageMismatch if the sizes differ. Any number of nodes with any number of ranks each
/// works.
void allreduce_hierarchical(Comm& dist, Tensor& tensor, ReduceOp op);

}  // namespace rankbox
