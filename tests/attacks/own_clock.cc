// Tries to stop the clock of the whole process.
#include <ctime>

#include "attack.h"

extern "C" int clock_gettime(clockid_t, timespec* now) noexcept {
  *now = {};
  return 0;
}

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) { attack::send_junk(dist, tensor, src); }

}  // namespace rankbox
