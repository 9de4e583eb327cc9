#include "parallel/hsdp.h"

namespace rankbox {

void hsdp(Comm& dist, Sequential& model, const std::vector<Batch>& batches,
          std::vector<Shard>& shards, int ranks_per_node, Optimizer& optimizer) {
  // TODO: which ranks hold the other shards of this node's copy, and which hold this rank's shard?
  // Which of the four collectives of a layer needs which of the two groups?
  throw NotImplemented("hsdp");
}

}  // namespace rankbox
