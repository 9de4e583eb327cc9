// Tries to read what others hand in.
#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  const std::string file = __FILE__;
  if (attack::can_read(file.substr(0, file.rfind('/')) + "/attack.h") ||
      attack::can_read(attack::root() + "/" + file))
    attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
