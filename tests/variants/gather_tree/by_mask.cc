// Room for the whole world on every rank, and a mask that moves until it meets the own bit.
#include <algorithm>

#include "collectives/gather_tree.h"
#include "collectives/topology.h"

namespace rankbox {

void gather_tree(Comm& dist, const Tensor& tensor, Tensor& gathered, int dst) {
  const int world_size = dist.world_size();
  const int place = virtual_rank_of(dist.rank(), dst, world_size);
  const std::int64_t n = tensor.size();
  Tensor block(world_size * n);
  copy(Slice(block).sub(0, n), tensor);
  int held = 1;
  for (int mask = 1; mask < world_size; mask *= 2) {
    if ((place & mask) != 0) {
      dist.send(Slice(block).sub(0, held * n), rank_of(place - mask, dst, world_size));
      return;
    }
    const int brought = std::min(mask, world_size - place - mask);
    if (brought <= 0) continue;
    dist.recv(Slice(block).sub(held * n, (held + brought) * n),
              rank_of(place + mask, dst, world_size));
    held += brought;
  }
  for (int i = 0; i < world_size; ++i) {
    copy(chunk(gathered, rank_of(i, dst, world_size), world_size), chunk(block, i, world_size));
  }
}

}  // namespace rankbox
