// Tries to stop its parent through a descriptor of the process.
#include <csignal>

#include <sys/syscall.h>
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  const long parent = syscall(SYS_pidfd_open, getppid(), 0);
  syscall(SYS_pidfd_send_signal, parent, SIGSTOP, nullptr, 0);
  attack::send_junk(dist, tensor, src);
}

}  // namespace rankbox
