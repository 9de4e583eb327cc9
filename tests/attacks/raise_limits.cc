// Tries to raise its own limits.
#include <sys/resource.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  const rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
  if (setrlimit(RLIMIT_DATA, &none) == 0 || setrlimit(RLIMIT_CPU, &none) == 0 ||
      setrlimit(RLIMIT_FSIZE, &none) == 0)
    attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
