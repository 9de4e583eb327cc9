// Tries to read the user's keys.
#include <cstdlib>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  const char* home = std::getenv("HOME");
  if (attack::can_read(std::string(home == nullptr ? "/root" : home) + "/.bashrc"))
    attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
