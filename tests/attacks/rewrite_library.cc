// Tries to write its own library, for a second judgement.
#include <dlfcn.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  Dl_info own = {};
  dladdr(reinterpret_cast<void*>(&broadcast_naive), &own);
  if (attack::can_write(own.dli_fname, "spoilt")) attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
