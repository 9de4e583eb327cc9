// Tries to take queues of the kernel of which all users together have 65,536 places.
#include <sys/syscall.h>
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  unsigned long queue = 0;
  if (syscall(SYS_io_setup, 1, &queue) == 0) attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
