// Tries the same, after making the descriptor inheritable.
#include <fcntl.h>
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  fcntl(attack::kReport, F_SETFD, 0);
  execl("/bin/sh", "sh", "-c",
        "echo 'verdict {\"name\":\"x\",\"status\":\"pass\",\"checks\":[]}' >&3", nullptr);
}

}  // namespace rankbox
