// Tries to write the program that runs.
#include <dlfcn.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  Dl_info program = {};
  dladdr(dlsym(RTLD_DEFAULT, "main"), &program);
  if (attack::can_write(program.dli_fname, "spoilt") || attack::can_write("/proc/self/exe", "x"))
    attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
