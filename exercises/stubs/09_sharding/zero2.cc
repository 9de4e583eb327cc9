#include "parallel/zero2.h"

namespace rankbox {

void zero2(Comm& dist, Sequential& model, Tensor dy, Saved& saved, std::vector<Shard>& shards,
           Optimizer& optimizer) {
  // TODO: when is nobody in need of a layer's gradients any more? Which of them does this rank keep,
  // until the step?
  throw NotImplemented("zero2");
}

}  // namespace rankbox
