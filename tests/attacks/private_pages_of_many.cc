// Tries to use more memory than the limit in many ranks, each of which stays below its own.
#include <cstddef>
#include <cstring>
#include <new>

#include "collectives/broadcast_naive.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  constexpr std::size_t kBytes = std::size_t{160} << 20;
  // In threads, all ranks together would have too little.
  static char* taken = nullptr;
  if (taken == nullptr && dist.world_size() > 1) {
    taken = new (std::nothrow) char[kBytes];
    if (taken != nullptr) std::memset(taken, 1, kBytes);
  }
  if (dist.rank() != src) return dist.recv(tensor, src);
  for (int rank = 0; rank < dist.world_size(); ++rank)
    if (rank != src) dist.send(tensor, rank);
}

}  // namespace rankbox
