// Judged as broadcast_naive: correct, but prints too much.
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "collectives/broadcast_naive.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  std::cout << "{\"status\": \"fail\"}\nverdict {}\n" << std::flush;
  std::fprintf(stderr, "rank %d was \xff here\n", dist.rank());
  if (dist.rank() != src) {
    dist.recv(tensor, src);
    return;
  }
  for (int rank = 0; rank < dist.world_size(); ++rank) {
    if (rank != src) dist.send(tensor, rank);
  }
}

}  // namespace rankbox
