// A recursion over ranges of ranks: the first of the second half brings all of it.
#include "collectives/gather_tree.h"
#include "collectives/topology.h"

namespace rankbox {

namespace {

// Afterwards virtual rank `begin` has the pieces begin, …, end-1 in their places.
void join(Comm& dist, Tensor& row, int dst, int begin, int end) {
  if (end - begin <= 1) return;
  const int world_size = dist.world_size();
  const int place = virtual_rank_of(dist.rank(), dst, world_size);
  const int middle = begin + (end - begin + 1) / 2;
  const bool lower = place < middle;
  join(dist, row, dst, lower ? begin : middle, lower ? middle : end);
  const std::int64_t n = row.size() / world_size;
  const Slice upper_half = Slice(row).sub(middle * n, end * n);
  if (place == middle) dist.send(upper_half, rank_of(begin, dst, world_size));
  if (place == begin) dist.recv(upper_half, rank_of(middle, dst, world_size));
}

}  // namespace

void gather_tree(Comm& dist, const Tensor& tensor, Tensor& gathered, int dst) {
  const int world_size = dist.world_size();
  const std::int64_t n = tensor.size();
  Tensor row(world_size * n);
  const int place = virtual_rank_of(dist.rank(), dst, world_size);
  copy(chunk(row, place, world_size), tensor);
  join(dist, row, dst, 0, world_size);
  if (place != 0) return;
  for (int i = 0; i < world_size; ++i) {
    copy(chunk(gathered, rank_of(i, dst, world_size), world_size), chunk(row, i, world_size));
  }
}

}  // namespace rankbox
