// Tries the same, by a shell.
#include <cstdlib>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (std::system("setsid sleep 1000 > /dev/null 2>&1 &") == 0) attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
