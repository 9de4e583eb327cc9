// f and g where they stand in the drawing.
#include "parallel/conjugate_f.h"
#include "parallel/conjugate_g.h"
#include "parallel/parallel_attention.h"

namespace rankbox {

void parallel_attention(Comm& dist, ParallelAttention& shard, Direction direction, Tensor& tensor,
                        Saved& saved) {
  Attention attention(shard.heads / dist.world_size());
  Layer* const layers[] = {&shard.qkv, &attention, &shard.out};
  const std::int64_t width = shard.bias.value.size();
  if (direction == Direction::kForward) {
    conjugate_f(dist, direction, tensor);
    for (Layer* const layer : layers) tensor = layer->forward(std::move(tensor), saved);
    conjugate_g(dist, direction, tensor);
    for (std::int64_t i = 0; i < tensor.size(); ++i)
      tensor.data()[i] += shard.bias.value.data()[i % width];
  } else {
    for (std::int64_t i = 0; i < tensor.size(); ++i)
      gradient_of(shard.bias).data()[i % width] += tensor.data()[i];
    conjugate_g(dist, direction, tensor);
    for (int i = 2; i >= 0; --i) tensor = layers[i]->backward(std::move(tensor), saved);
    conjugate_f(dist, direction, tensor);
  }
}

}  // namespace rankbox
