// Three steps in a list.
#include <functional>
#include <utility>
#include <vector>

#include "parallel/column_linear.h"
#include "parallel/parallel_attention.h"
#include "parallel/row_linear.h"

namespace rankbox {

void parallel_attention(Comm& dist, ParallelAttention& shard, Direction direction, Tensor& tensor,
                        Saved& saved) {
  const bool forward = direction == Direction::kForward;
  Attention heads(shard.heads / dist.world_size());
  std::vector<std::function<void()>> steps;
  steps.emplace_back([&] { column_linear(dist, shard.qkv, direction, tensor, saved); });
  steps.emplace_back([&] {
    Tensor taken = std::move(tensor);
    tensor =
        forward ? heads.forward(std::move(taken), saved) : heads.backward(std::move(taken), saved);
  });
  steps.emplace_back([&] { row_linear(dist, shard.out, shard.bias, direction, tensor, saved); });
  for (std::size_t i = 0; i < steps.size(); ++i) steps[forward ? i : steps.size() - 1 - i]();
}

}  // namespace rankbox
