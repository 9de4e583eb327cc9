// Tries the same, by the newer system call.
#include <csignal>

#include <linux/sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  clone_args arguments = {};
  arguments.exit_signal = SIGCHLD;
  const long child = syscall(SYS_clone3, &arguments, sizeof(arguments));
  if (child == 0) {
    sleep(1000);
    _exit(0);
  }
  if (child > 0) attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
