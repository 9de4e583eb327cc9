// One flat tensor, large enough for the largest layer, serves all of them.
#include <algorithm>

#include "parallel/zero2.h"

namespace rankbox {

void zero2(Comm& dist, Sequential& model, Tensor dy, Saved& saved, std::vector<Shard>& shards,
           Optimizer& optimizer) {
  std::int64_t largest = 0;
  for (const Shard& shard : shards) largest = std::max(largest, shard.mine.value.size());
  Tensor buffer(Shape(largest * dist.world_size()));
  const Slice all(buffer);
  for (std::int64_t i = model.size() - 1; i >= 0; --i) {
    dy = model.layer(i).backward(std::move(dy), saved);
    Shard& shard = shards[static_cast<std::size_t>(i)];
    if (shard.mine.value.empty()) continue;
    pack_gradients(model.layer(i).parameters(), shard, buffer);
    drop_gradients(model.layer(i).parameters());
    dist.reduce_scatter(all.sub(0, shard.mine.value.size() * dist.world_size()),
                        gradient_of(shard.mine), ReduceOp::AVG);
  }
  optimizer.step();
  for (std::int64_t i = 0; i < model.size(); ++i) {
    Shard& shard = shards[static_cast<std::size_t>(i)];
    if (shard.mine.value.empty()) continue;
    dist.all_gather(shard.mine.value, all.sub(0, shard.mine.value.size() * dist.world_size()));
    unpack_values(buffer, shard, model.layer(i).parameters());
  }
}

}  // namespace rankbox
