// isend and recv; the first message leaves from the input itself.
#include "collectives/allgather_ring.h"
#include "collectives/topology.h"

namespace rankbox {

void allgather_ring(Comm& dist, const Tensor& tensor, Tensor& gathered) {
  const int rank = dist.rank();
  const int world_size = dist.world_size();
  const auto place = [&](int src) { return chunk(gathered, wrap(src, world_size), world_size); };
  copy(place(rank), tensor);
  for (int step = 0; step < world_size - 1; ++step) {
    const Slice newest = step == 0 ? Slice(tensor) : place(rank - step);
    const Request leaving = dist.isend(newest, next_rank(rank, world_size));
    dist.recv(place(rank - step - 1), prev_rank(rank, world_size));
    dist.wait(leaving);
  }
}

}  // namespace rankbox
