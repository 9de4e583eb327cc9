#include "parallel/fsdp_prefetch.h"

namespace rankbox {

void fsdp_prefetch(Comm& dist, Sequential& model, const Batch& batch, Saved& saved,
                   std::vector<Shard>& shards, Loss& loss, Optimizer& optimizer) {
  // TODO: while a layer computes, what can the network do for the pass after it, and for the one
  // before? Which two passes follow each other with the same weights?
  throw NotImplemented("fsdp_prefetch");
}

}  // namespace rankbox
