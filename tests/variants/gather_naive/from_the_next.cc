// The ranks after dst first, places by hand, and the own tensor last.
#include <cstdint>

#include "collectives/gather_naive.h"

namespace rankbox {

void gather_naive(Comm& dist, const Tensor& tensor, Tensor& gathered, int dst) {
  const std::int64_t n = tensor.size();
  const int world_size = dist.world_size();
  if (dist.rank() == dst) {
    for (int step = 1; step < world_size; ++step) {
      const int src = (dst + step) % world_size;
      dist.recv(Slice(gathered).sub(src * n, (src + 1) * n), src);
    }
    copy(Slice(gathered).sub(dst * n, (dst + 1) * n), tensor);
  } else {
    const Request leaving = dist.isend(tensor, dst);
    dist.wait(leaving);
  }
}

}  // namespace rankbox
