// Tries to leave a key with the kernel.
#include <sys/syscall.h>
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  constexpr int kOfUser = -4;
  if (syscall(SYS_add_key, "user", "rankbox", "x", 1, kOfUser) >= 0)
    attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
