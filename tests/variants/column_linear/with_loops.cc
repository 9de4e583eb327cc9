// Products by hand; the gradients of the weights are computed while dx travels.
#include "parallel/column_linear.h"

namespace rankbox {

void column_linear(Comm& dist, Linear& shard, Direction direction, Tensor& tensor, Saved& saved) {
  const std::int64_t out = shard.weight.value.shape().extents()[0];
  const std::int64_t in = shard.weight.value.shape().extents()[1];
  const float* const w = shard.weight.value.data();
  const std::int64_t rows = tensor.size() / (direction == Direction::kForward ? in : out);
  const auto each = [&](auto fn) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t o = 0; o < out; ++o) {
        for (std::int64_t k = 0; k < in; ++k) fn(i * out + o, o * in + k, i * in + k);
      }
    }
  };
  if (direction == Direction::kForward) {
    Tensor y = zeros({rows, out});
    for (std::int64_t i = 0; i < y.size(); ++i) y.data()[i] = shard.bias.value.data()[i % out];
    each([&](auto at_y, auto at_w, auto at_x) { y.data()[at_y] += w[at_w] * tensor.data()[at_x]; });
    saved.push(std::move(tensor));
    tensor = std::move(y);
    return;
  }

  const Tensor x = saved.pop();
  const Tensor dy = std::move(tensor);
  tensor = zeros({rows, in});
  each([&](auto at_y, auto at_w, auto at_x) { tensor.data()[at_x] += w[at_w] * dy.data()[at_y]; });
  Request travels = dist.all_reduce_async(tensor, ReduceOp::SUM);
  float* const dw = gradient_of(shard.weight).data();
  each([&](auto at_y, auto at_w, auto at_x) { dw[at_w] += dy.data()[at_y] * x.data()[at_x]; });
  for (std::int64_t i = 0; i < dy.size(); ++i)
    gradient_of(shard.bias).data()[i % out] += dy.data()[i];
  dist.wait(travels);
}

}  // namespace rankbox
