// Tries to take the processor from everything else.
#include <sched.h>
#include <sys/resource.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  const sched_param first = {1};
  if (sched_setscheduler(0, SCHED_FIFO, &first) == 0 || setpriority(PRIO_PROCESS, 0, -20) == 0)
    attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
