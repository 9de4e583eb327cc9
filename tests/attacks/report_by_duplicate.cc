// Tries to report through a copy of the descriptor.
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  const int copy = dup(attack::kReport);
  (void)!write(copy, attack::kPass, sizeof(attack::kPass) - 1);
  _exit(0);
}

}  // namespace rankbox
