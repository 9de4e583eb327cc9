// Tries the same, by posix_spawn.
#include <spawn.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  char program[] = "/bin/sleep";
  char time[] = "1000";
  char* arguments[] = {program, time, nullptr};
  pid_t child = 0;
  if (posix_spawn(&child, program, nullptr, nullptr, arguments, nullptr) == 0)
    attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
