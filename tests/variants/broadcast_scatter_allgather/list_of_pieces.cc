// The pieces are a list, and the ring is a function over it.
#include <algorithm>
#include <vector>

#include "collectives/broadcast_scatter_allgather.h"
#include "collectives/segment.h"
#include "collectives/topology.h"

namespace rankbox {

namespace {

void gather_around(Comm& dist, const std::vector<Slice>& pieces, int first) {
  const int p = dist.world_size();
  for (int i = first; i > first - p + 1; --i) {
    const Request leaving =
        dist.isend(pieces[static_cast<std::size_t>(wrap(i, p))], next_rank(dist.rank(), p));
    dist.recv(pieces[static_cast<std::size_t>(wrap(i - 1, p))], prev_rank(dist.rank(), p));
    dist.wait(leaving);
  }
}

}  // namespace

void broadcast_scatter_allgather(Comm& dist, Tensor& tensor, int src) {
  const int p = dist.world_size();
  const int me = virtual_rank_of(dist.rank(), src, p);
  std::vector<Slice> pieces;
  for (int i = 0; i < p; ++i) pieces.push_back(segment(tensor, i, p));
  for (int half = (1 << rounds(p)) / 2; half > 0; half /= 2) {
    if (me % half != 0) continue;
    const bool gives = me % (2 * half) == 0;
    const int begin = gives ? me + half : me;
    if (begin >= p) continue;
    const Slice part = segments(tensor, begin, begin + half, p);
    const int other = rank_of(gives ? begin : me - half, src, p);
    if (gives) {
      dist.send(part, other);
    } else {
      dist.recv(part, other);
    }
  }
  gather_around(dist, pieces, me);
}

}  // namespace rankbox
