// Tries to report through /dev/fd.
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  std::ofstream("/dev/fd/3") << attack::kPass << std::flush;
  _exit(0);
}

}  // namespace rankbox
