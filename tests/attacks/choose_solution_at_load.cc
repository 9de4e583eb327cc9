// Tries to have the loader replace the function by the judge's, through a resolver.
#include <dlfcn.h>

#include "attack.h"

extern "C" void* rankbox_choose() {
  return dlsym(RTLD_DEFAULT,
               "_ZN7rankbox15broadcast_naiveERNS_17BasicCommunicatorINS_3sim7BackendE"
               "EERNS_8TensorOfIfEEi");
}

namespace rankbox {

__attribute__((ifunc("rankbox_choose"))) void broadcast_naive(Comm& dist, Tensor& tensor, int src);

}  // namespace rankbox
