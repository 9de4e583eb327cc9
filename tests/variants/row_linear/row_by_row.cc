// The bias is added row by row, and its gradient summed on the host.
#include <utility>
#include <vector>

#include "parallel/row_linear.h"

namespace rankbox {

void row_linear(Comm& dist, Linear& shard, Parameter& bias, Direction direction, Tensor& tensor,
                Saved& saved) {
  const std::int64_t out = bias.value.size();
  if (direction == Direction::kForward) {
    tensor = shard.forward(std::move(tensor), saved);
    dist.wait(dist.all_reduce_async(tensor));
    for (std::int64_t i = 0; i < tensor.size(); ++i) tensor.data()[i] += bias.value.data()[i % out];
    return;
  }
  std::vector<float> sums = to_host(gradient_of(bias));
  const std::vector<float> dy = to_host(tensor);
  for (std::size_t i = 0; i < dy.size(); ++i) sums[i % sums.size()] += dy[i];
  copy(bias.gradient, from_host(sums));
  tensor = shard.backward(std::move(tensor), saved);
}

}  // namespace rankbox
