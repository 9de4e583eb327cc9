// Tries to call the system by another processor's numbers.
#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  int result = 0;
  asm volatile("int $0x80" : "=a"(result) : "a"(2));  // fork
  if (result >= 0) attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
