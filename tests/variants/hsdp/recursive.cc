// One function does a layer's forward, the rest of the model, and its backward; sums are divided at
// the end.
#include <utility>
#include <vector>

#include "parallel/hsdp.h"
#include "training/cross_entropy.h"

namespace rankbox {

namespace {

struct Work {
  Comm row;
  Comm column;
  Sequential& model;
  std::vector<Shard>& shards;
  const Batch* batch = nullptr;
  Saved saved = {};
};

void become_whole(Work& work, std::size_t i, const std::vector<Parameter*>& parameters) {
  if (parameters.empty()) return;
  Tensor flat = flat_for(work.shards[i], work.row.world_size());
  const Slice place = chunk(flat, work.row.rank(), work.row.world_size());
  copy(place, work.shards[i].mine.value);
  work.row.all_gather(place, flat);
  unpack_values(flat, work.shards[i], parameters);
}

/// Returns the derivative by x.
Tensor pass(Work& work, std::size_t i, Tensor x) {
  if (i == work.shards.size()) return cross_entropy(x, work.batch->labels).gradient;
  Layer& layer = work.model.layer(static_cast<std::int64_t>(i));
  const std::vector<Parameter*> own = layer.parameters();
  become_whole(work, i, own);
  x = layer.forward(std::move(x), work.saved);
  drop_values(own);

  Tensor dy = pass(work, i + 1, std::move(x));

  become_whole(work, i, own);
  dy = layer.backward(std::move(dy), work.saved);
  drop_values(own);
  if (own.empty()) return dy;
  Tensor flat = flat_for(work.shards[i], work.row.world_size());
  pack_gradients(own, work.shards[i], flat);
  drop_gradients(own);
  Tensor sum = empty_like(work.shards[i].mine.value);
  work.row.reduce_scatter(flat, sum);
  work.column.all_reduce(sum);
  sum *= 1.0F / static_cast<float>(work.row.world_size() * work.column.world_size());
  work.shards[i].mine.gradient = std::move(sum);
  return dy;
}

}  // namespace

void hsdp(Comm& dist, Sequential& model, const std::vector<Batch>& batches,
          std::vector<Shard>& shards, int ranks_per_node, Optimizer& optimizer) {
  const int node = dist.rank() / ranks_per_node;
  Work work = {dist.split(node, dist.rank()), dist.split(dist.rank() - node * ranks_per_node, node),
               model, shards};
  for (const Batch& batch : batches) {
    work.batch = &batch;
    work.saved = Saved(batch.pass(Mode::kTraining));
    pass(work, 0, clone(batch.x));
    optimizer.step();
  }
}

}  // namespace rankbox
