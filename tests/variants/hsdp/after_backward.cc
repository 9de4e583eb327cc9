// A class for the mesh; shards cross nodes after the whole backward, the first layer's first.
#include <utility>
#include <vector>

#include "parallel/hsdp.h"
#include "training/cross_entropy.h"

namespace rankbox {

namespace {

class Step {
 public:
  Step(Comm& dist, Sequential& model, std::vector<Shard>& shards, int s)
      : counterparts_(dist.split(dist.rank() % s)),
        node_(dist.split(dist.rank() / s)),
        model_(model),
        shards_(shards) {}

  void operator()(const Batch& batch) {
    Saved saved(batch.pass(Mode::kTraining));
    Tensor tensor = batch.x;
    for (std::int64_t i = 0; i < model_.size(); ++i) {
      gather(i);
      tensor = model_.layer(i).forward(std::move(tensor), saved);
      drop_values(model_.layer(i).parameters());
    }
    Loss loss = cross_entropy(tensor, batch.labels);
    tensor = std::move(loss.gradient);
    for (std::int64_t i = model_.size() - 1; i >= 0; --i) {
      gather(i);
      tensor = model_.layer(i).backward(std::move(tensor), saved);
      scatter(i);
    }
    for (Shard& shard : shards_) {
      if (!shard.shapes.empty()) counterparts_.all_reduce(shard.mine.gradient, ReduceOp::AVG);
    }
  }

 private:
  Shard& shard(std::int64_t i) { return shards_[static_cast<std::size_t>(i)]; }

  void gather(std::int64_t i) {
    if (shard(i).shapes.empty()) return;
    Tensor all(shard(i).mine.value.size() * node_.world_size());
    node_.all_gather(shard(i).mine.value, all);
    unpack_values(all, shard(i), model_.layer(i).parameters());
  }

  void scatter(std::int64_t i) {
    if (shard(i).shapes.empty()) return;
    const std::vector<Parameter*> parameters = model_.layer(i).parameters();
    drop_values(parameters);
    Tensor all = flat_for(shard(i), node_.world_size());
    pack_gradients(parameters, shard(i), all);
    drop_gradients(parameters);
    shard(i).mine.gradient = empty_like(shard(i).mine.value);
    node_.reduce_scatter(all, shard(i).mine.gradient, ReduceOp::AVG);
  }

  Comm counterparts_;
  Comm node_;
  Sequential& model_;
  std::vector<Shard>& shards_;
};

}  // namespace

void hsdp(Comm& dist, Sequential& model, const std::vector<Batch>& batches,
          std::vector<Shard>& shards, int ranks_per_node, Optimizer& optimizer) {
  Step step(dist, model, shards, ranks_per_node);
  for (const Batch& batch : batches) {
    step(batch);
    optimizer.step();
  }
}

}  // namespace rankbox
