// Tries to call the judge's own solution.
#include <dlfcn.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  Dl_info own = {};
  dladdr(reinterpret_cast<void*>(&broadcast_naive), &own);
  void* const found = dlsym(RTLD_DEFAULT, own.dli_sname);
  if (found != nullptr && found != own.dli_saddr)
    reinterpret_cast<decltype(&broadcast_naive)>(found)(dist, tensor, src);
}

}  // namespace rankbox
