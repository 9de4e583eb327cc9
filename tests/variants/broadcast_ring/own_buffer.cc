// What comes is kept in a buffer, passed on from there, and copied last.
#include <utility>

#include "collectives/broadcast_ring.h"
#include "collectives/topology.h"

namespace rankbox {

void broadcast_ring(Comm& dist, Tensor& tensor, int src) {
  const int world_size = dist.world_size();
  if (world_size == 1) return;
  const int next = next_rank(dist.rank(), world_size);
  if (dist.rank() == src) return dist.send(tensor, next);
  Tensor received = empty_like(tensor);
  dist.recv(received, prev_rank(dist.rank(), world_size));
  if (next != src) dist.send(received, next);
  std::swap(tensor, received);
}

}  // namespace rankbox
