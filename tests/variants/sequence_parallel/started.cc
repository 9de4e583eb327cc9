// Everything is started, then waited for; the gradient of b column by column.
#include "parallel/sequence_parallel.h"

namespace rankbox {

void sequence_parallel(Comm& dist, ParallelMlp& shard, Direction direction, Tensor& tensor,
                       Saved& saved) {
  const int p = dist.world_size();
  const std::int64_t in = shard.fc1.weight.value.size() / shard.fc1.bias.value.size();
  const std::int64_t out = shard.bias.value.size();
  const bool forward = direction == Direction::kForward;
  const std::int64_t rows = tensor.size() / (forward ? in : out);

  Tensor all({p * rows, forward ? in : out});
  Request gathering = dist.all_gather_async(tensor, all);
  dist.wait(gathering);
  Tensor summand;
  if (forward) {
    summand = shard.fc1.forward(std::move(all), saved);
    summand = shard.fc2.forward(shard.activation.forward(std::move(summand), saved), saved);
  } else {
    for (std::int64_t c = 0; c < out; ++c) {
      double sum = 0;
      for (std::int64_t row = 0; row < p * rows; ++row) sum += all.data()[row * out + c];
      gradient_of(shard.bias).data()[c] += static_cast<float>(sum);
    }
    summand = shard.fc2.backward(std::move(all), saved);
    summand = shard.fc1.backward(shard.activation.backward(std::move(summand), saved), saved);
  }
  tensor = Tensor({rows, forward ? out : in});
  Request scattering = dist.reduce_scatter_async(summand, tensor, ReduceOp::SUM);
  dist.wait(scattering);
  for (std::int64_t i = 0; forward && i < tensor.size(); ++i)
    tensor.data()[i] += shard.bias.value.data()[i % out];
}

}  // namespace rankbox
