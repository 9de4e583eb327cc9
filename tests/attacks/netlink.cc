// Tries to reach the kernel's services.
#include <sys/socket.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (socket(AF_NETLINK, SOCK_DGRAM, 0) >= 0) attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
