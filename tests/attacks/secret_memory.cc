// Tries to get memory that not even the kernel sees.
#include <sys/syscall.h>
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (syscall(SYS_memfd_secret, 0) >= 0) attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
