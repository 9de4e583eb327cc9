// A recursion over ranges of ranks: the first half keeps, the second is given away.
#include "collectives/scatter_tree.h"
#include "collectives/topology.h"

namespace rankbox {

void scatter_tree(Comm& dist, const Tensor& whole, Tensor& piece, int src) {
  const int world_size = dist.world_size();
  const int place = virtual_rank_of(dist.rank(), src, world_size);
  Tensor row(world_size * piece.size());
  for (int i = 0; i < world_size && place == 0; ++i) {
    copy(chunk(row, i, world_size), chunk(whole, rank_of(i, src, world_size), world_size));
  }
  int begin = 0;
  int end = world_size;
  while (end - begin > 1) {
    const int middle = begin + (end - begin + 1) / 2;
    const Slice upper = Slice(row).sub(middle * piece.size(), end * piece.size());
    if (place == begin) dist.send(upper, rank_of(middle, src, world_size));
    if (place == middle) dist.recv(upper, rank_of(begin, src, world_size));
    (place < middle ? end : begin) = middle;
  }
  copy(piece, chunk(row, place, world_size));
}

}  // namespace rankbox
