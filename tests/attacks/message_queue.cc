// Tries to keep data in queues of the kernel, which no limit counts.
#include <fcntl.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (msgget(IPC_PRIVATE, IPC_CREAT | 0600) >= 0 ||
      syscall(SYS_mq_open, "rankbox", O_RDWR | O_CREAT, 0600, nullptr) >= 0)
    attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
