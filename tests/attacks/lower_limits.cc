// Tries to leave the judge without memory and descriptors, so that it cannot report.
#include <sys/resource.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  const rlimit none = {0, 0};
  for (const auto what : {RLIMIT_NOFILE, RLIMIT_AS, RLIMIT_DATA, RLIMIT_STACK, RLIMIT_FSIZE})
    setrlimit(what, &none);
  attack::send_junk(dist, tensor, src);
}

}  // namespace rankbox
