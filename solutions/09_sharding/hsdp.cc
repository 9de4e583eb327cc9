#include "parallel/hsdp.h"

#include <utility>

#include "training/cross_entropy.h"

namespace rankbox {

namespace {

/// The rows and columns of the mesh that meet at this rank.
struct Mesh {
  Comm node;          // has the other shards of this copy
  Comm counterparts;  // have the same shard
};

/// Gathers the layer's weights.
void gather(Mesh& mesh, const Shard& shard, const std::vector<Parameter*>& parameters) {
  if (parameters.empty()) return;
  Tensor flat = flat_for(shard, mesh.node.world_size());
  mesh.node.all_gather(shard.mine.value, flat);
  unpack_values(flat, shard, parameters);
}

/// Leaves the mean of all ranks' gradients in their owners' shards.
void scatter_gradients(Mesh& mesh, Shard& shard, const std::vector<Parameter*>& parameters) {
  if (parameters.empty()) return;
  Tensor flat = flat_for(shard, mesh.node.world_size());
  pack_gradients(parameters, shard, flat);
  drop_gradients(parameters);
  Tensor& mine = gradient_of(shard.mine);
  mesh.node.reduce_scatter(flat, mine, ReduceOp::AVG);
  mesh.counterparts.all_reduce(mine, ReduceOp::AVG);
}

}  // namespace

void hsdp(Comm& dist, Sequential& model, const std::vector<Batch>& batches,
          std::vector<Shard>& shards, int ranks_per_node, Optimizer& optimizer) {
  Mesh mesh = {dist.split(dist.rank() / ranks_per_node, dist.rank()),
               dist.split(dist.rank() % ranks_per_node, dist.rank())};

  for (const Batch& batch : batches) {
    Saved saved(batch.pass(Mode::kTraining));
    Tensor y = clone(batch.x);
    for (std::int64_t i = 0; i < model.size(); ++i) {
      const std::vector<Parameter*> parameters = model.layer(i).parameters();
      gather(mesh, shards[static_cast<std::size_t>(i)], parameters);
      y = model.layer(i).forward(std::move(y), saved);
      drop_values(parameters);
    }

    Tensor dy = cross_entropy(y, batch.labels).gradient;
    for (std::int64_t i = model.size(); i-- > 0;) {
      const std::vector<Parameter*> parameters = model.layer(i).parameters();
      Shard& shard = shards[static_cast<std::size_t>(i)];
      gather(mesh, shard, parameters);
      dy = model.layer(i).backward(std::move(dy), saved);
      drop_values(parameters);
      scatter_gradients(mesh, shard, parameters);
    }

    optimizer.step();
  }
}

}  // namespace rankbox
