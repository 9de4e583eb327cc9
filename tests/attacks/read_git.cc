// Tries to read the solution from git's history.
#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (attack::can_read(attack::root() + "/.git/HEAD")) attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
