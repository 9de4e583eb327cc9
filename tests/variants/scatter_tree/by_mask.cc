// Room for the whole world on every rank, and a mask for the halves.
#include <algorithm>

#include "collectives/scatter_tree.h"
#include "collectives/topology.h"

namespace rankbox {

void scatter_tree(Comm& dist, const Tensor& whole, Tensor& piece, int src) {
  const int world_size = dist.world_size();
  const int place = virtual_rank_of(dist.rank(), src, world_size);
  const std::int64_t n = piece.size();
  Tensor row(world_size * n);
  const auto pieces = [&](int begin, int end) {
    return Slice(row).sub(begin * n, std::min(end, world_size) * n);
  };
  int mask = 1;
  while (mask < world_size && (place & mask) == 0) mask *= 2;
  if (place != 0) {
    dist.recv(pieces(place, place + mask), rank_of(place - mask, src, world_size));
  } else {
    for (int i = 0; i < world_size; ++i) {
      copy(pieces(i, i + 1), chunk(whole, rank_of(i, src, world_size), world_size));
    }
  }
  for (mask /= 2; mask > 0; mask /= 2) {
    const int child = place + mask;
    if (child < world_size) {
      dist.send(pieces(child, child + mask), rank_of(child, src, world_size));
    }
  }
  copy(piece, pieces(place, place + 1));
}

}  // namespace rankbox
