// Tries to leave a process behind.
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    if (fork() == 0) sleep(1000);
    _exit(0);
  }
  if (child > 0) attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
