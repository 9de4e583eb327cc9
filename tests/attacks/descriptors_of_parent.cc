// Tries to take over the descriptors of its parent.
#include <sys/syscall.h>
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  const long parent = syscall(SYS_pidfd_open, getppid() == 0 ? 1 : getppid(), 0);
  for (int fd = 0; parent >= 0 && fd < 64; ++fd) {
    if (syscall(SYS_pidfd_getfd, parent, fd, 0) >= 0) return attack::succeed(dist, tensor, src);
  }
}

}  // namespace rankbox
