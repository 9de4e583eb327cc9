// Three layers in a list; the bias is added on the host.
#include <array>
#include <utility>
#include <vector>

#include "parallel/sequence_parallel.h"

namespace rankbox {

void sequence_parallel(Comm& dist, ParallelMlp& shard, Direction direction, Tensor& tensor,
                       Saved& saved) {
  const bool forward = direction == Direction::kForward;
  const std::int64_t rows = tensor.shape().extents()[0];
  Tensor all({rows * dist.world_size(), tensor.size() / rows});
  dist.all_gather(tensor, all);
  if (!forward) add_bias_gradient(all, gradient_of(shard.bias));

  const std::array<Layer*, 3> layers = {&shard.fc1, &shard.activation, &shard.fc2};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    Layer& layer = *layers[forward ? i : layers.size() - 1 - i];
    Tensor taken = std::move(all);
    all =
        forward ? layer.forward(std::move(taken), saved) : layer.backward(std::move(taken), saved);
  }

  tensor = Tensor({rows, all.size() / (rows * dist.world_size())});
  dist.reduce_scatter(all, tensor, ReduceOp::SUM);
  if (!forward) return;
  const std::vector<float> bias = to_host(shard.bias.value);
  std::vector<float> y = to_host(tensor);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += bias[i % bias.size()];
  tensor = from_host(y, tensor.shape());
}

}  // namespace rankbox
