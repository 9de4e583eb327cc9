// Divides before it sends, and packs by itself.
#include <vector>

#include "parallel/zero1.h"

namespace rankbox {

void zero1(Comm& dist, const std::vector<Parameter*>& parameters, Shard& shard,
           Optimizer& optimizer) {
  const int p = dist.world_size();
  Tensor flat = flat_for(shard, p);
  std::int64_t at = 0;
  for (const Parameter* parameter : parameters) {
    const std::int64_t end = at + parameter->value.size();
    const bool is_used = !parameter->gradient.empty();
    for (std::int64_t i = at; i < end; ++i)
      flat.data()[i] = is_used ? parameter->gradient.data()[i - at] / static_cast<float>(p) : 0;
    at = end;
  }
  for (; at < flat.size(); ++at) flat.data()[at] = 0;
  dist.reduce_scatter(flat, gradient_of(shard.mine), ReduceOp::SUM);
  optimizer.step();
  dist.wait(dist.all_gather_async(shard.mine.value, flat));
  unpack_values(flat, shard, parameters);
}

}  // namespace rankbox
