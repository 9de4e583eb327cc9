#include "parallel/expert_parallel_layer.h"

namespace rankbox {

void expert_parallel_layer(Comm& dist, ExpertLayer& layer, Direction direction, Tensor& tensor,
                           Saved& saved) {
  // TODO: forward is moe_dispatch_combine without a capacity. What must it keep for backward, so
  // that no row and no count travels twice? Which gradients are complete, and which are a share?
  throw NotImplemented("expert_parallel_layer");
}

}  // namespace rankbox
