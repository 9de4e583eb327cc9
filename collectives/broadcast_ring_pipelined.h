// Broadcast along a ring, in segments: while a rank receives one segment, it
// passes on the one before.
//
// Segment i is segment(tensor, i, segments), ⌈N/s⌉ of the N elements and the last ones fewer or
// none: see collectives/segment.h. Every step moves the wavefront by one rank:
//
//   p = 4, 3 segments    v0        v1        v2        v3
//   step 0               abc ─a──▶ a··       ···       ···
//   step 1               abc ─b──▶ ab· ─a──▶ a··       ···
//   step 2               abc ─c──▶ abc ─b──▶ ab· ─a──▶ a··
//   step 3               abc       abc ─c──▶ abc ─b──▶ ab·
//   step 4               abc       abc       abc ─c──▶ abc
//
// Ranks in the middle receive and send at once (sendrecv): the links are full duplex. With enough
// segments the tensor crosses the ring as if there were a single hop. With too many, every segment
// pays its α for little: √((p-2)nβ/α) segments are best.
//
// Cost: (p+s-2)(α + nβ/s) for s segments of a tensor of n bytes, p >= 2. If s does not divide N:
// N + (p-2)⌈N/s⌉ elements in p+s-2 steps.
// Blocks: until the previous rank has all segments, and until the next one has taken them.
// Difficulty 3/5. Importance 4/5.
// Paper: Patarasuk, Faraj and Yuan, Pipelined broadcast on Ethernet switched clusters, IPDPS 2006.
#pragma once

#include "comm/comm.h"

namespace rankbox {

/// `tensor` becomes that of src on every rank.
///
/// REQUIRES: every rank calls it with the same src and segments, and a tensor of the same size.
/// There may be more segments than elements: some are then empty, and travel all the same.
/// Errors: InvalidArgument if there is no rank src or segments < 1;
/// MessageMismatch if the sizes differ.
void broadcast_ring_pipelined(Comm& dist, Tensor& tensor, int src, int segments);

}  // namespace rankbox
