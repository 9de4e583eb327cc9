// Tries to rename the project.
#include <cstdio>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (std::rename(attack::root().c_str(), "/tmp/project") == 0) attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
