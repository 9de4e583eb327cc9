// All-reduce along two binary trees, each for half of the tensor, in segments.
//
// In a binary tree half of the ranks are leaves, which send and receive half as much as the others.
// So there are two trees, and the leaves of one are the inner ranks of the other: then all links
// work all the time. tree_position() in collectives/topology.h says which rank is where:
//
//   p = 8   tree 0: first half of the tensor     tree 1: second half     inner
//                        0                               7               0 1 2 3 | 4 5 6 7
//                    1       2                       6       5
//                  3   4   5   6                   4   3   2   1
//                 7                               0
//
//              rank 0        rank 1        rank 2          a, b, c: the halves, [1] and [2]
//   before     a1   a2       b1   b2       c1   c2
//   up         Σ1   .        .    Σ2       .    .          Σ at the root of each tree
//   down       Σ1   Σ2       Σ1   Σ2       Σ1   Σ2
//
// A half is cut into s segments, segment(half, k, s). Each goes up, added at every inner rank, and
// down again, copied: so all ranks have the same bits. A rank works on several segments at the same
// time: while it receives one from a child, it passes another on to its parent, as the inner rank
// of one tree, and one of its own as the leaf of the other, and adds a third. That takes isend and
// irecv. Links are full duplex, but a rank sends one message at a time and receives one at a time.
// So the order counts: let messages of left children (even positions) and of right children take
// turns. A rank that is left in one tree is right in the other, so it sends in every turn.
//
// Cost: a rank sends at most 4s messages and 2n bytes, receives as much, and adds at most n bytes.
// With messages of m = n/(2s) bytes and D = ⌊log2 p⌋, the depth of the trees:
//
//   at most 4(s + 2D)(α + mβ) + D mγ      if adding a segment takes no longer than sending it
//
// which is 2nβ + 8D α + …: the bytes of a ring, nearly, and the latency of a tree. The reference
// takes 4s + 6(D-1) messages one after another for s >= 2, and at most 4D for s = 1.
// Blocks: until all ranks have called it and the segments have gone up and down.
// Difficulty 5/5. Importance 3/5. A bonus.
// Paper: Sanders, Speck and Träff, Two-tree algorithms for full bandwidth broadcast, reduction and
// scan, Parallel Computing 35 (2009). NCCL has such trees since 2.4. It numbers them in order, so
// that neighbours in a tree are close together; with a heap, turns follow from the position.
#pragma once

#include "comm/comm.h"

namespace rankbox {

/// `tensor` on every rank becomes the reduction of all ranks' tensors, the same bits everywhere.
///
/// The halves are chunk(tensor, 0, 2) and chunk(tensor, 1, 2). Messages go along the edges of the
/// two trees only.
/// AVG: add as SUM, and divide once at the very end (collectives/average.h).
///
/// REQUIRES: every rank calls it with the same op and segments, and a tensor of the same size.
/// There may be more segments than elements: some are then empty, and travel all the same.
/// Errors: InvalidArgument if segments < 1; MessageMismatch if the sizes differ.
void allreduce_double_tree(Comm& dist, Tensor& tensor, ReduceOp op, int segments);

}  // namespace rankbox
