// Tries to read the kernel's log.
#include <sys/klog.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  char text[4096];
  if (klogctl(10, nullptr, 0) > 0 || klogctl(3, text, sizeof(text)) > 0)
    attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
