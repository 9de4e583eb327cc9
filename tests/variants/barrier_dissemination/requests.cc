// Requests instead of sendrecv, and the partners of all rounds listed beforehand.
#include <vector>

#include "collectives/barrier_dissemination.h"
#include "collectives/topology.h"

namespace rankbox {

void barrier_dissemination(Comm& dist) {
  const int p = dist.world_size();
  std::vector<int> distances;
  for (int k = 0; k < rounds(p); ++k) distances.push_back(1 << k);
  Tensor in;
  const Tensor out;
  for (const int distance : distances) {
    const Request coming = dist.irecv(in, wrap(dist.rank() - distance, p));
    const Request leaving = dist.isend(out, wrap(dist.rank() + distance, p));
    dist.wait_all({leaving, coming});
  }
}

}  // namespace rankbox
