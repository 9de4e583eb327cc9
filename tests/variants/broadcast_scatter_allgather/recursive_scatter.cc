// The tree is written as a recursion: whoever leads a range gives its upper half to another.
#include "collectives/broadcast_scatter_allgather.h"
#include "collectives/segment.h"
#include "collectives/topology.h"

namespace rankbox {

namespace {

// Virtual rank `begin` has the pieces begin, …, begin+width-1, of which some may be beyond the end.
void scatter(Comm& dist, Slice tensor, int src, int begin, int width) {
  const int world_size = dist.world_size();
  if (width == 1) return;
  const int middle = begin + width / 2;
  const int place = virtual_rank_of(dist.rank(), src, world_size);
  if (middle < world_size) {
    const Slice upper = segments(tensor, middle, middle + width / 2, world_size);
    if (place == begin) dist.send(upper, rank_of(middle, src, world_size));
    if (place == middle) dist.recv(upper, rank_of(begin, src, world_size));
  }
  scatter(dist, tensor, src, place < middle ? begin : middle, width / 2);
}

}  // namespace

void broadcast_scatter_allgather(Comm& dist, Tensor& tensor, int src) {
  const int world_size = dist.world_size();
  const int rank = dist.rank();
  const int place = virtual_rank_of(rank, src, world_size);
  scatter(dist, tensor, src, 0, 1 << rounds(world_size));
  for (int round = 0; round < world_size - 1; ++round) {
    const int leaving = wrap(place - round, world_size);
    const int coming = wrap(place - round - 1, world_size);
    dist.sendrecv(segment(tensor, leaving, world_size), next_rank(rank, world_size),
                  segment(tensor, coming, world_size), prev_rank(rank, world_size));
  }
}

}  // namespace rankbox
