// Tries to report through /proc's name of the descriptor.
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  std::ofstream("/proc/self/fd/3") << attack::kPass << std::flush;
  _exit(0);
}

}  // namespace rankbox
