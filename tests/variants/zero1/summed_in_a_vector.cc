// Packs by hand, with its own flat memory, adds up, and divides itself.
#include <algorithm>

#include "parallel/zero1.h"

namespace rankbox {

void zero1(Comm& dist, const std::vector<Parameter*>& parameters, Shard& shard,
           Optimizer& optimizer) {
  Tensor flat = zeros(shard.mine.value.size() * dist.world_size());
  float* at = flat.data();
  for (Parameter* parameter : parameters) {
    if (!parameter->gradient.empty())
      std::copy_n(parameter->gradient.data(), parameter->value.size(), at);
    at += parameter->value.size();
  }
  Tensor mean(Shape(shard.mine.value.size()));
  dist.reduce_scatter(flat, mean, ReduceOp::SUM);
  for (std::int64_t i = 0; i < mean.size(); ++i)
    mean.data()[i] /= static_cast<float>(dist.world_size());
  shard.mine.gradient = std::move(mean);
  optimizer.step();
  dist.all_gather(shard.mine.value, flat);
  const float* from = flat.data();
  for (Parameter* parameter : parameters) {
    std::copy_n(from, parameter->value.size(), parameter->value.data());
    from += parameter->value.size();
  }
}

}  // namespace rankbox
