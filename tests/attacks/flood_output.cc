// Tries to print without end.
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  const std::string block(1 << 16, 'x');
  while (true) (void)!write(1, block.data(), block.size());
}

}  // namespace rankbox
