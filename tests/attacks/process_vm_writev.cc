// Tries the same, by process_vm_writev.
#include <sys/uio.h>
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  char byte = 0;
  const iovec here = {&byte, 1};
  const iovec there = {&byte, 1};
  if (process_vm_writev(getppid(), &here, 1, &there, 1, 0) >= 0) attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
