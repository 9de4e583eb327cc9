// Every collective is started, and waited for; the loss is a sum divided by hand.
#include <algorithm>

#include "parallel/data_parallel.h"

namespace rankbox {

void data_parallel(Comm& dist, Sequential& model, const Batch& batch) {
  const int p = dist.world_size();
  const auto parameters = model.parameters();
  for (auto* parameter : parameters) dist.wait(dist.broadcast_async(parameter->value, 0));

  auto extents = batch.x.shape().extents();
  extents.front() /= p;
  Tensor x{Shape(extents)};
  dist.wait(dist.scatter_async(batch.x, x, 0));
  Saved saved;
  Tensor y = model.forward(x, saved);

  Tensor all = zeros({batch.size(), y.size() / extents.front()});
  dist.wait(dist.gather_async(y, all, 0));
  Tensor all_dy = zeros(all.shape());
  if (dist.rank() == 0) {
    const auto padding = std::ranges::count(batch.labels, kIgnoredLabel);
    const auto divisor = static_cast<double>(batch.size() - padding);
    all_dy = cross_entropy(all, batch.labels, divisor).gradient;
  }
  dist.wait(dist.scatter_async(all_dy, y, 0));
  model.backward(y, saved);
  for (auto* parameter : parameters)
    dist.wait(dist.reduce_async(gradient_of(*parameter), 0, ReduceOp::SUM));
}

}  // namespace rankbox
