// A recursion over ranges of ranks: the first of a range serves the first of its second half.
#include "collectives/broadcast_tree.h"
#include "collectives/topology.h"

namespace rankbox {

namespace {

void serve(Comm& dist, Tensor& tensor, int src, int begin, int end) {
  if (end - begin <= 1) return;
  const int world_size = dist.world_size();
  const int middle = begin + (end - begin + 1) / 2;
  const int place = virtual_rank_of(dist.rank(), src, world_size);
  if (place == begin) dist.send(tensor, rank_of(middle, src, world_size));
  if (place == middle) dist.recv(tensor, rank_of(begin, src, world_size));
  if (place < middle) {
    serve(dist, tensor, src, begin, middle);
  } else {
    serve(dist, tensor, src, middle, end);
  }
}

}  // namespace

void broadcast_tree(Comm& dist, Tensor& tensor, int src) {
  const int world_size = dist.world_size();
  serve(dist, tensor, src, 0, world_size);
}

}  // namespace rankbox
