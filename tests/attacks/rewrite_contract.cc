// Tries to write a contract.
#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (attack::can_write(attack::root() + "/comm/comm.h", "spoilt"))
    attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
