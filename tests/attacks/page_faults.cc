// Tries to handle page faults itself.
#include <sys/syscall.h>
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (syscall(SYS_userfaultfd, 1) >= 0) attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
