// All-reduce around a ring, in segments: while a segment is added, the next one is in flight.
//
// allreduce_ring waits for a chunk, then adds it, and its links are idle meanwhile. Here each chunk
// is cut into s segments, segment(chunk, i, s), and each segment is a message. Message k of a rank
// is segment k mod s of the chunk that a plain ring sends in step k / s. It can leave as soon as
// message k-s has arrived and has been added; so with s >= 2 the messages follow each other without
// a gap, from step to step, and each addition takes place during the next message.
//
//   p = 3, time →          step 0          step 1          step 2          step 3
//   ring      messages     [  0   ]        [  1   ]        [  2   ][  3   ]
//             additions            [  +   ]        [  +   ]
//   s = 2     messages     [0a][0b][1a][1b][2a][2b][3a][3b]
//             additions        [+a][+b][+a][+b]
//
// This is how libraries run a ring. Two receive buffers of one segment are enough: one is being
// filled while the other is added.
//
// Cost: 2(p-1)s messages of n/(ps) bytes, and of the additions at most one segment's is exposed,
// the last one's (not even that if the second half starts during it):
//
//   2(p-1)(sα + n/p β) + n/(ps) γ     for s >= 2, if adding a segment takes no longer than sending
//                                     it (γ <= β is enough)
//   2(p-1)(α + n/p β) + (p-1) n/p γ   for s = 1: the plain ring
//
// Each coefficient by itself, as the clock of α, β or γ alone counts it: 2(p-1)s steps, 2(p-1)/p n
// bytes, (p-1)/p n reduced. If ps does not divide the number of elements N: as many steps, and at
// most the bytes and additions of segments of ⌈⌈N/p⌉/s⌉ elements.
// Blocks: until all ranks have called it and the chunks have gone round.
// Difficulty 4/5. Importance 4/5. A bonus.
// Paper: Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations,
// J. Parallel Distrib. Comput. 69 (2009), has the ring; NCCL and gloo cut its chunks like this.
#pragma once

#include "comm/comm.h"

namespace rankbox {

/// `tensor` on every rank becomes the reduction of all ranks' tensors, the same bits everywhere.
/// AVG: add as SUM, and divide once at the very end (collectives/average.h).
///
/// REQUIRES: every rank calls it with the same op and segments, and a tensor of the same size.
/// There may be more segments than elements: some are then empty, and travel all the same.
/// Errors: InvalidArgument if segments < 1; MessageMismatch if the sizes differ.
void allreduce_ring_segmented(Comm& dist, Tensor& tensor, ReduceOp op, int segments);

}  // namespace rankbox
