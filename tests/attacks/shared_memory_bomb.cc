// Tries the same, in shared memory.
#include <sys/mman.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  void* const block =
      mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (block != MAP_FAILED) attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
