// Tries to use semaphores of the kernel, which outlive a process.
#include <sys/ipc.h>
#include <sys/sem.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (semget(IPC_PRIVATE, 32000, IPC_CREAT | 0600) >= 0) attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
