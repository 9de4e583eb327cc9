// A gather starts as soon as the layer before the last one is dropped, ahead of the reduce-scatter
// and before the gather in flight is waited for: two slots take turns.
#include <array>
#include <utility>

#include "parallel/fsdp_prefetch.h"

namespace rankbox {

namespace {

struct Slot {
  std::size_t layer = 0;
  Tensor flat;
  Request request;
};

}  // namespace

void fsdp_prefetch(Comm& dist, Sequential& model, const Batch& batch, Saved& saved,
                   std::vector<Shard>& shards, Loss& loss, Optimizer& optimizer) {
  const int p = dist.world_size();
  std::vector<std::size_t> order;  // of gathers
  for (std::size_t i = 0; i < shards.size(); ++i) {
    if (!shards[i].shapes.empty()) order.push_back(i);
  }
  const std::size_t layers = order.size();
  for (std::size_t k = layers; k-- > 1;) order.push_back(order[k - 1]);

  std::array<Slot, 2> slots;
  std::size_t started = 0, taken = 0;
  const auto start = [&] {
    if (started == order.size()) return;
    Slot& slot = slots[started % 2];
    slot.layer = order[started++];
    slot.flat = flat_for(shards[slot.layer], p);
    slot.request = dist.all_gather_async(shards[slot.layer].mine.value, slot.flat);
  };
  const auto take = [&](Layer& layer) {
    Slot& slot = slots[taken++ % 2];
    dist.wait(slot.request);
    unpack_values(slot.flat, shards[slot.layer], layer.parameters());
    slot.flat = {};
  };

  Tensor y = batch.x;
  start();
  for (std::size_t i = 0; i < shards.size(); ++i) {
    Layer& layer = model.layer(static_cast<std::int64_t>(i));
    const bool has_weights = !shards[i].shapes.empty();
    if (has_weights && started < layers) start();
    if (has_weights) take(layer);
    y = layer.forward(std::move(y), saved);
    if (has_weights && taken < layers) drop_values(layer.parameters());
  }
  loss = cross_entropy(y, batch.labels);
  Tensor dy = std::move(loss.gradient);
  loss.gradient = {};

  start();
  Tensor flat;
  Request sent;
  bool is_last = true;
  for (std::size_t i = shards.size(); i-- > 0;) {
    Layer& layer = model.layer(static_cast<std::int64_t>(i));
    if (shards[i].shapes.empty()) {
      dy = layer.backward(std::move(dy), saved);
      continue;
    }
    if (!std::exchange(is_last, false)) take(layer);
    dy = layer.backward(std::move(dy), saved);
    drop_values(layer.parameters());
    start();
    if (!flat.empty()) dist.wait(sent);
    flat = {};
    flat = flat_for(shards[i], p);
    pack_gradients(layer.parameters(), shards[i], flat);
    drop_gradients(layer.parameters());
    sent = dist.reduce_scatter_async(flat, gradient_of(shards[i].mine), ReduceOp::AVG);
  }
  if (!flat.empty()) dist.wait(sent);
  optimizer.step();
}

}  // namespace rankbox
