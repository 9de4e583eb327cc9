// A layer is a call, and its weights are whole while an object lives.
#include <utility>
#include <vector>

#include "parallel/zero3.h"

namespace rankbox {

namespace {

/// A layer with its weights.
class Whole {
 public:
  Whole(Comm& dist, Layer& layer, const Shard& shard) : parameters_(layer.parameters()) {
    if (parameters_.empty()) return;
    Tensor flat = flat_for(shard, dist.world_size());
    dist.all_gather(shard.mine.value, flat);
    unpack_values(flat, shard, parameters_);
  }
  Whole(const Whole&) = delete;
  Whole& operator=(const Whole&) = delete;
  ~Whole() { drop_values(parameters_); }

 private:
  std::vector<Parameter*> parameters_;
};

struct Step {
  Comm& dist;
  Sequential& model;
  const Batch& batch;
  Saved& saved;
  std::vector<Shard>& shards;
  Loss& loss;

  /// Returns the derivative by this layer's input.
  Tensor go(std::int64_t i, Tensor x) const {
    if (i == model.size()) {
      loss = cross_entropy(x, batch.labels);
      return std::exchange(loss.gradient, Tensor());
    }
    Layer& layer = model.layer(i);
    Shard& shard = shards[static_cast<std::size_t>(i)];
    {
      const Whole whole(dist, layer, shard);
      x = layer.forward(std::move(x), saved);
    }
    Tensor dy = go(i + 1, std::move(x));
    {
      const Whole whole(dist, layer, shard);
      dy = layer.backward(std::move(dy), saved);
    }
    const std::vector<Parameter*> own = layer.parameters();
    if (own.empty()) return dy;
    Tensor flat = flat_for(shard, dist.world_size());
    pack_gradients(own, shard, flat);
    drop_gradients(own);
    dist.reduce_scatter(flat, gradient_of(shard.mine), ReduceOp::AVG);
    return dy;
  }
};

}  // namespace

void zero3(Comm& dist, Sequential& model, const Batch& batch, Saved& saved,
           std::vector<Shard>& shards, Loss& loss, Optimizer& optimizer) {
  Step{dist, model, batch, saved, shards, loss}.go(0, batch.x);
  optimizer.step();
}

}  // namespace rankbox
