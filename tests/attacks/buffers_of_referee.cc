// Tries to have the referee keep more than all memory.
#include <vector>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  static Tensor large = zeros({std::int64_t{1} << 23});
  std::vector<Request> requests;
  for (int i = 0; i < 1000; ++i) requests.push_back(dist.irecv(large, src));
  attack::send_junk(dist, tensor, src);
}

}  // namespace rankbox
