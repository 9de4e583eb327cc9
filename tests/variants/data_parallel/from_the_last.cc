// Parameters from the last; layers one by one.
#include <utility>
#include <vector>

#include "parallel/data_parallel.h"

namespace rankbox {

void data_parallel(Comm& dist, Sequential& model, const Batch& batch) {
  const std::vector<Parameter*> all = model.parameters();
  const auto resized = [](const Tensor& like, std::int64_t samples) {
    std::vector<std::int64_t> extents = like.shape().extents();
    extents[0] = samples;
    return zeros(Shape(extents));
  };
  const std::int64_t part = batch.size() / dist.world_size();

  for (std::size_t i = all.size(); i-- > 0;) dist.broadcast(all[i]->value, 0);
  Tensor t = resized(batch.x, part);
  dist.scatter(batch.x, t, 0);
  Saved saved;
  for (std::int64_t i = 0; i < model.size(); ++i) t = model.layer(i).forward(std::move(t), saved);
  Tensor outputs = resized(t, batch.size());
  dist.gather(t, outputs, 0);
  if (dist.rank() == 0) {
    Loss loss = cross_entropy(outputs, batch.labels);
    std::swap(outputs, loss.gradient);
  }
  dist.scatter(outputs, t, 0);
  for (std::int64_t i = model.size() - 1; i >= 0; --i)
    t = model.layer(i).backward(std::move(t), saved);
  for (std::size_t i = all.size(); i-- > 0;) dist.reduce(gradient_of(*all[i]), 0);
}

}  // namespace rankbox
