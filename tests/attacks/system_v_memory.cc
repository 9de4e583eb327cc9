// Tries the same, in segments that outlive it.
#include <sys/ipc.h>
#include <sys/shm.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (shmget(IPC_PRIVATE, 1 << 20, IPC_CREAT | 0600) >= 0) attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
