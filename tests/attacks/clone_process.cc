// Tries the same, by the system call.
#include <csignal>

#include <sys/syscall.h>
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  const long child = syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (child == 0) {
    sleep(1000);
    _exit(0);
  }
  if (child > 0) attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
