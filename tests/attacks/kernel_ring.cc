// Tries to have the kernel work on its behalf.
#include <sys/syscall.h>
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  char parameters[120] = {};
  if (syscall(SYS_io_uring_setup, 1, parameters) >= 0) attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
