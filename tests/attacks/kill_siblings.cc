// Tries to end the processes of the other ranks.
#include <csignal>

#include <sys/syscall.h>
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  bool has_sent = false;
  for (int process = 1; process < 64; ++process) {
    if (process == getpid()) continue;
    has_sent = syscall(SYS_tgkill, process, process, SIGSTOP) == 0 || has_sent;
    has_sent = syscall(SYS_tkill, process, SIGSTOP) == 0 || has_sent;
  }
  if (has_sent) attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
