// Tries to find out whether there are solutions.
#include "attack.h"

#if __has_include("solutions/02_broadcast/broadcast_naive.cc") || __has_include("/etc/passwd")
#define FOUND 1
#else
#define FOUND 0
#endif

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (FOUND) attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
