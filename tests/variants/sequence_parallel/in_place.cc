// Gathered and scattered in place: a rank's rows are a chunk of all.
#include "parallel/sequence_parallel.h"

namespace rankbox {

void sequence_parallel(Comm& dist, ParallelMlp& shard, Direction direction, Tensor& tensor,
                       Saved& saved) {
  const int p = dist.world_size(), r = dist.rank();
  const std::int64_t out = shard.bias.value.size();
  const std::int64_t in = shard.fc1.weight.value.shape().extents()[1];
  const bool forward = direction == Direction::kForward;
  const std::int64_t rows = p * tensor.size() / (forward ? in : out);

  Tensor all({rows, forward ? in : out});
  copy(chunk(all, r, p), tensor);
  dist.all_gather(chunk(all, r, p), all);
  if (forward) {
    all = shard.activation.forward(shard.fc1.forward(std::move(all), saved), saved);
    all = shard.fc2.forward(std::move(all), saved);
  } else {
    for (std::int64_t i = 0; i < all.size(); ++i)
      gradient_of(shard.bias).data()[i % out] += all.data()[i];
    all = shard.activation.backward(shard.fc2.backward(std::move(all), saved), saved);
    all = shard.fc1.backward(std::move(all), saved);
  }
  dist.reduce_scatter(all, chunk(all, r, p), ReduceOp::SUM);
  tensor = Tensor({rows / p, forward ? out : in});
  copy(tensor, chunk(all, r, p));
  for (std::int64_t i = 0; forward && i < tensor.size(); ++i)
    tensor.data()[i] += shard.bias.value.data()[i % out];
}

}  // namespace rankbox
