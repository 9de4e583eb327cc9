#include "parallel/zero3.h"

namespace rankbox {

void zero3(Comm& dist, Sequential& model, const Batch& batch, Saved& saved,
           std::vector<Shard>& shards, Loss& loss, Optimizer& optimizer) {
  // TODO: which weights does a layer need, and when, forward and back? What may be freed right
  // after, and what must be sent before it is?
  throw NotImplemented("zero3");
}

}  // namespace rankbox
