// Tries to trace its parent.
#include <sys/ptrace.h>
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (ptrace(PTRACE_ATTACH, getppid(), nullptr, nullptr) == 0) attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
