// Each tensor comes in a buffer, and its elements are copied by hand.
#include <algorithm>

#include "collectives/gather_naive.h"

namespace rankbox {

void gather_naive(Comm& dist, const Tensor& tensor, Tensor& gathered, int dst) {
  if (dist.rank() != dst) {
    dist.send(tensor, dst);
    return;
  }
  const std::int64_t n = tensor.size();
  Tensor buffer = empty_like(tensor);
  for (int src = 0; src < dist.world_size(); ++src) {
    if (src != dst) dist.recv(buffer, src);
    const Tensor& from = src == dst ? tensor : buffer;
    std::copy_n(from.data(), n, gathered.data() + src * n);
  }
}

}  // namespace rankbox
