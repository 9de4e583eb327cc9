#include "parallel/parallel_attention.h"

#include "parallel/column_linear.h"
#include "parallel/row_linear.h"

namespace rankbox {

void parallel_attention(Comm& dist, ParallelAttention& shard, Direction direction, Tensor& tensor,
                        Saved& saved) {
  Attention attention(shard.heads / dist.world_size());
  if (direction == Direction::kForward) {
    column_linear(dist, shard.qkv, direction, tensor, saved);
    tensor = attention.forward(std::move(tensor), saved);
    row_linear(dist, shard.out, shard.bias, direction, tensor, saved);
  } else {
    row_linear(dist, shard.out, shard.bias, direction, tensor, saved);
    tensor = attention.backward(std::move(tensor), saved);
    column_linear(dist, shard.qkv, direction, tensor, saved);
  }
}

}  // namespace rankbox
