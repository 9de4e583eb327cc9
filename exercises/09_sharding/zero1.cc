#include "parallel/zero1.h"

namespace rankbox {

void zero1(Comm& dist, const std::vector<Parameter*>& parameters, Shard& shard,
           Optimizer& optimizer) {
  // TODO: what does a rank send of its gradients, and to whom? What does it then know that the
  // others do not?
  throw NotImplemented("zero1");
}

}  // namespace rankbox
