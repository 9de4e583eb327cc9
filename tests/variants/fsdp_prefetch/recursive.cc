// A layer is a call that knows the next one; what is in flight is an object.
#include <memory>
#include <utility>

#include "parallel/fsdp_prefetch.h"

namespace rankbox {

namespace {

class Gather {
 public:
  Gather(Comm& dist, const Shard& shard)
      : dist_(dist), shard_(shard), flat_(flat_for(shard, dist.world_size())) {
    request_ = dist.all_gather_async(shard.mine.value, flat_);
  }
  void into(Layer& layer) {
    dist_.wait(request_);
    unpack_values(flat_, shard_, layer.parameters());
  }

 private:
  Comm& dist_;
  const Shard& shard_;
  Tensor flat_;
  Request request_;
};
using InFlight = std::unique_ptr<Gather>;

struct Step {
  Comm& dist;
  Sequential& model;
  const Batch& batch;
  Saved& saved;
  std::vector<Shard>& shards;
  Loss& loss;
  Tensor piece = {};  // the mean that arrives
  Tensor flat = {};   // of which gradients are sent
  Request sent = {};
  Shard* owner = nullptr;

  /// Returns the layer with weights from i on in this direction; the size if there is none.
  std::size_t with_weights(std::size_t i, int direction) const {
    while (i < shards.size() && shards[i].shapes.empty())
      i += static_cast<std::size_t>(direction);  // wraps around below 0
    return i < shards.size() ? i : shards.size();
  }

  InFlight gather(std::size_t i) const {
    return i < shards.size() ? std::make_unique<Gather>(dist, shards[i]) : nullptr;
  }

  void finish_sent() {
    if (owner == nullptr) return;
    dist.wait(sent);
    owner->mine.gradient = std::move(piece);
    owner = nullptr;
    flat = {};
  }

  /// Takes this layer's weights, and returns the derivative by its input. `ready` becomes the
  /// gather for the backward of the layer before.
  Tensor go(std::size_t i, Tensor x, InFlight& ready) {
    if (i == shards.size()) {
      loss = cross_entropy(x, batch.labels);
      return std::exchange(loss.gradient, Tensor());
    }
    Layer& layer = model.layer(static_cast<std::int64_t>(i));
    if (shards[i].shapes.empty())
      return layer.backward(go(i + 1, layer.forward(std::move(x), saved), ready), saved);

    ready->into(layer);
    const std::size_t next = with_weights(i + 1, 1);
    const bool is_last = next == shards.size();
    ready = gather(next);
    x = layer.forward(std::move(x), saved);
    if (!is_last) drop_values(layer.parameters());
    Tensor dy = go(i + 1, std::move(x), ready);

    if (!is_last) ready->into(layer);
    ready = gather(i == 0 ? shards.size() : with_weights(i - 1, -1));
    dy = layer.backward(std::move(dy), saved);
    drop_values(layer.parameters());
    finish_sent();
    flat = flat_for(shards[i], dist.world_size());
    pack_gradients(layer.parameters(), shards[i], flat);
    drop_gradients(layer.parameters());
    piece = Tensor(shards[i].mine.value.shape());
    owner = &shards[i];
    sent = dist.reduce_scatter_async(flat, piece, ReduceOp::AVG);
    return dy;
  }
};

}  // namespace

void fsdp_prefetch(Comm& dist, Sequential& model, const Batch& batch, Saved& saved,
                   std::vector<Shard>& shards, Loss& loss, Optimizer& optimizer) {
  Step step = {dist, model, batch, saved, shards, loss};
  InFlight ready = step.gather(step.with_weights(0, 1));
  step.go(0, batch.x, ready);
  step.finish_sent();
  optimizer.step();
}

}  // namespace rankbox
