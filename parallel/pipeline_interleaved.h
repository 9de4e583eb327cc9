// pipeline_interleaved: several thin stages per rank, and a smaller bubble.
//
// The bubble is p - 1 steps of a whole stage. If a rank has v chunks of the model instead of one
// stage, chunks r, r + p, r + 2p, … of v p, a step is one chunk, so the bubble is 1/v of what it
// was. The price: every micro-batch visits all ranks v times, so there are about v times as many
// messages, and more activations in flight.
//
//   2 ranks, 4 chunks     rank 0 ─▶ rank 1 ─▶ rank 0 ─▶ rank 1 ─▶ loss
//                         chunk 0   chunk 1   chunk 2   chunk 3
//
// Below, a rank's own chunks are 0 … v-1, and k counts its forwards, 0 … v m - 1. Micro-batches go
// in groups of p: a group through chunk 0, then through chunk 1, …, then the next group.
//
//   forward k      chunk k mod (v p) / p            micro-batch p (k / (v p)) + k mod p
//   backward k     chunk v-1 - that of forward k    the same micro-batch
//
//   1. warm-up    min(v m, 2(p-1-r) + (v-1)p) forwards
//   2. steady     one forward, one backward, until all v m are forward
//   3. cool-down  the other backwards
//
// Sends may block until they are received, and on a ring all ranks may wait for each other: with
// isend and irecv a rank continues. Wait for messages before the next passes; waiting only at the
// end would keep all of them in memory. Messages have no tags. With two ranks, the next is also the
// previous: activations and gradients come from the same neighbour, and this order of passes
// receives them in the order in which they are sent.
//
// The messages that NCCL has in flight together complete together (docs/gpu.md), so another order
// may hang there. This one does not: after forward k and backward k - w, where w is the warm-up
// without the minimum, start what they send and what forward k + 1 and backward k + 1 - w receive,
// and wait for all four. Their other halves are in the neighbours' exchanges of the same k + rank.
//
// Build on chunk.forward, chunk.backward, dist.isend, dist.irecv and dist.wait_all.
//
// Cost: (v m + p - 1)(f + b), where f and b are those of one chunk: each rank is idle for
// (p-1)/(v m + p-1) of the time. 2(v p - 1)m messages, between neighbours on the ring.
// Memory: what warm-up + 1 passes leave in the chunks, min(v m, 2(p-1-r) + (v-1)p + 1).
// Blocks: until the micro-batches have gone through this rank's chunks in both directions.
// Difficulty 5/5. Importance 2/5.
// Paper: Narayanan et al., Efficient large-scale language model training on GPU clusters using
// Megatron-LM, SC 2021, section 2.2.
#pragma once

#include <vector>

#include "comm/comm.h"
#include "parallel/stage.h"

namespace rankbox {

/// Afterwards every micro-batch has gone forward and backward through every chunk, in the order
/// above, and the gradients of each chunk's parameters are those of the mean loss over all
/// micro-batches.
///
/// @param chunks stages rank(), rank() + p, rank() + 2p, … of v p, where v is chunks.size()
/// REQUIRES: every chunk of every rank is loaded with the same micro-batches, whose number is a
/// multiple of p; every rank has equally many chunks; gradients are empty or zero.
/// Errors: those of Stage and of the messages.
void pipeline_interleaved(Comm& dist, std::vector<Stage>& chunks);

}  // namespace rankbox
