// Without the chapter's other functions; sums are started and waited for.
#include <memory>
#include <utility>

#include "parallel/layer_shards.h"
#include "parallel/parallel_attention.h"

namespace rankbox {

void parallel_attention(Comm& dist, ParallelAttention& shard, Direction direction, Tensor& tensor,
                        Saved& saved) {
  const auto attention = std::make_unique<Attention>(shard.heads / dist.world_size());
  const auto add_up = [&] { dist.wait(dist.all_reduce_async(tensor)); };
  if (direction == Direction::kForward) {
    Tensor inner = attention->forward(shard.qkv.forward(std::move(tensor), saved), saved);
    tensor = shard.out.forward(std::move(inner), saved);
    add_up();
    add_bias(tensor, shard.bias.value);
    return;
  }
  add_bias_gradient(tensor, gradient_of(shard.bias));
  Tensor inner = attention->backward(shard.out.backward(std::move(tensor), saved), saved);
  tensor = shard.qkv.backward(std::move(inner), saved);
  add_up();
}

}  // namespace rankbox
