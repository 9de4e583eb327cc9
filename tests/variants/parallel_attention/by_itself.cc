// Without the other exercises; heads as chunks of all.
#include "parallel/parallel_attention.h"

namespace rankbox {

void parallel_attention(Comm& dist, ParallelAttention& shard, Direction direction, Tensor& tensor,
                        Saved& saved) {
  const std::int64_t out = shard.bias.value.size();
  Attention own_heads(shard.heads * (dist.rank() + 1) / dist.world_size() -
                      shard.heads * dist.rank() / dist.world_size());
  if (direction == Direction::kForward) {
    Tensor x = shard.qkv.forward(std::move(tensor), saved);
    tensor = shard.out.forward(own_heads.forward(std::move(x), saved), saved);
    dist.all_reduce(tensor, ReduceOp::SUM);
    for (std::int64_t i = 0; i < tensor.size(); ++i)
      tensor.data()[i] += shard.bias.value.data()[i % out];
    return;
  }
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    gradient_of(shard.bias).data()[i % out] += tensor.data()[i];
  Tensor dx = own_heads.backward(shard.out.backward(std::move(tensor), saved), saved);
  tensor = shard.qkv.backward(std::move(dx), saved);
  dist.all_reduce(tensor, ReduceOp::SUM);
}

}  // namespace rankbox
