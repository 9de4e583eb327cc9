// Tries to mount by the system calls that came later.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  constexpr int kClone = 1;  // OPEN_TREE_CLONE
  if (syscall(SYS_fsopen, "tmpfs", 0) >= 0 || syscall(SYS_open_tree, AT_FDCWD, "/", kClone) >= 0)
    attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
