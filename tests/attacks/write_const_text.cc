// Tries to write into the judge's constants.
#include <dlfcn.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  Dl_info program = {};
  dladdr(dlsym(RTLD_DEFAULT, "main"), &program);
  *static_cast<volatile char*>(program.dli_fbase) = 0;
}

}  // namespace rankbox
