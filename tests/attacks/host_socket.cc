// Tries to reach the host of a virtual machine.
#include <sys/socket.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (socket(AF_VSOCK, SOCK_DGRAM, 0) >= 0) attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
