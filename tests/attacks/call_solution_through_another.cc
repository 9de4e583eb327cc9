// Tries the same, after a call of another solution, which calls this one.
#include <dlfcn.h>

#include "attack.h"
#include "collectives/allreduce_naive.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  Dl_info own = {};
  dladdr(reinterpret_cast<void*>(&broadcast_naive), &own);
  void* const found = dlsym(RTLD_DEFAULT, own.dli_sname);
  if (found != nullptr && found != own.dli_saddr)
    return reinterpret_cast<decltype(&broadcast_naive)>(found)(dist, tensor, src);
  allreduce_naive(dist, tensor, ReduceOp::SUM);
}

}  // namespace rankbox
