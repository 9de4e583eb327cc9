#include "parallel/parallel_attention.h"

namespace rankbox {

void parallel_attention(Comm& dist, ParallelAttention& shard, Direction direction, Tensor& tensor,
                        Saved& saved) {
  // TODO: as parallel_mlp, with Attention in the middle: for how many heads?
  throw NotImplemented("parallel_attention");
}

}  // namespace rankbox
