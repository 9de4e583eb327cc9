// Tries the same, in files without a name.
#include <sys/mman.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (memfd_create("x", 0) >= 0) attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
