// Tries to report from a program that it starts in its place.
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  execl("/bin/sh", "sh", "-c",
        "echo 'verdict {\"name\":\"x\",\"status\":\"pass\",\"checks\":[]}' >&3", nullptr);
}

}  // namespace rankbox
