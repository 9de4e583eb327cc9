// Tries to seem to compute while it sleeps, by the name of its thread.
#include <sys/prctl.h>
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  prctl(PR_SET_NAME, "a) R 1 1 1");
  for (;;) pause();
}

}  // namespace rankbox
