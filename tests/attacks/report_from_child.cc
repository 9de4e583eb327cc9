// Tries to report from a forked process.
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (fork() == 0) {
    (void)!write(attack::kReport, attack::kPass, sizeof(attack::kPass) - 1);
    _exit(0);
  }
  usleep(100000);
  _exit(0);
}

}  // namespace rankbox
