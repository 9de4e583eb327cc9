#include "parallel/ddp_init_broadcast.h"

namespace rankbox {

void ddp_init_broadcast(Comm& dist, const std::vector<Parameter*>& parameters,
                        const std::vector<NamedTensor*>& statistics) {
  // TODO: rank 0's values everywhere. A parameter has a name, a value and a gradient; which of them
  // do the others need?
  throw NotImplemented("ddp_init_broadcast");
}

}  // namespace rankbox
