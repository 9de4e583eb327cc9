// Tries to use all memory.
#include <cstdlib>
#include <cstring>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (dist.rank() != 0) return;
  while (void* block = std::malloc(1 << 26)) std::memset(block, 1, 1 << 26);
}

}  // namespace rankbox
