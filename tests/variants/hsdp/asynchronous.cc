// All-reduces between nodes are started, and waited for before the step: the next layers compute
// meanwhile.
#include <utility>
#include <vector>

#include "parallel/hsdp.h"
#include "training/cross_entropy.h"

namespace rankbox {

void hsdp(Comm& dist, Sequential& model, const std::vector<Batch>& batches,
          std::vector<Shard>& shards, int ranks_per_node, Optimizer& optimizer) {
  Comm node = dist.split(dist.rank() / ranks_per_node);
  Comm counterparts = dist.split(dist.rank() % ranks_per_node);
  const auto with_weights = [&](std::size_t i, auto pass) {
    const std::vector<Parameter*> own = model.layer(static_cast<std::int64_t>(i)).parameters();
    if (!own.empty()) {
      Tensor flat = flat_for(shards[i], ranks_per_node);
      node.all_gather(shards[i].mine.value, flat);
      unpack_values(flat, shards[i], own);
    }
    pass(model.layer(static_cast<std::int64_t>(i)));
    drop_values(own);
    return own;
  };

  for (const Batch& batch : batches) {
    Saved saved(batch.pass(Mode::kTraining));
    Tensor y = batch.x;
    for (std::size_t i = 0; i < shards.size(); ++i)
      with_weights(i, [&](Layer& layer) { y = layer.forward(std::move(y), saved); });
    Tensor dy = cross_entropy(y, batch.labels).gradient;
    std::vector<Request> crossing;
    for (std::size_t i = shards.size(); i-- > 0;) {
      const std::vector<Parameter*> own =
          with_weights(i, [&](Layer& layer) { dy = layer.backward(std::move(dy), saved); });
      if (own.empty()) continue;
      Tensor flat = flat_for(shards[i], ranks_per_node);
      pack_gradients(own, shards[i], flat);
      drop_gradients(own);
      node.reduce_scatter(flat, gradient_of(shards[i].mine), ReduceOp::AVG);
      crossing.push_back(counterparts.all_reduce_async(shards[i].mine.gradient, ReduceOp::AVG));
    }
    dist.wait_all(crossing);
    optimizer.step();
  }
}

}  // namespace rankbox
