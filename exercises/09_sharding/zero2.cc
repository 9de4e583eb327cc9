#include "parallel/zero2.h"

namespace rankbox {

void zero2(Comm& dist, Sequential& model, Tensor dy, Saved& saved, std::vector<Shard>& shards,
           Optimizer& optimizer) {
  // TODO: from when on does no rank need a layer's whole gradients? Which part of them does this
  // rank keep until the step?
  throw NotImplemented("zero2");
}

}  // namespace rankbox
