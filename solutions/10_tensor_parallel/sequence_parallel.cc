#include "parallel/sequence_parallel.h"

namespace rankbox {

namespace {

/// All ranks' rows, in rank order.
Tensor gathered(Comm& dist, const Tensor& rows, std::int64_t width) {
  Tensor all({rows.size() / width * dist.world_size(), width});
  dist.all_gather(rows, all);
  return all;
}

/// This rank's rows of the sum of all ranks' tensors.
Tensor scattered(Comm& dist, Tensor summand, std::int64_t width) {
  Tensor rows({summand.size() / width / dist.world_size(), width});
  dist.reduce_scatter(summand, rows, ReduceOp::SUM);
  return rows;
}

}  // namespace

void sequence_parallel(Comm& dist, ParallelMlp& shard, Direction direction, Tensor& tensor,
                       Saved& saved) {
  const std::int64_t in = shard.fc1.weight.value.shape().extents()[1];
  const std::int64_t out = shard.bias.value.size();
  if (direction == Direction::kForward) {
    Tensor x = shard.fc1.forward(gathered(dist, tensor, in), saved);
    x = shard.activation.forward(std::move(x), saved);
    tensor = scattered(dist, shard.fc2.forward(std::move(x), saved), out);
    add_bias(tensor, shard.bias.value);
  } else {
    Tensor dy = gathered(dist, tensor, out);
    add_bias_gradient(dy, gradient_of(shard.bias));
    dy = shard.activation.backward(shard.fc2.backward(std::move(dy), saved), saved);
    tensor = scattered(dist, shard.fc1.backward(std::move(dy), saved), in);
  }
}

}  // namespace rankbox
