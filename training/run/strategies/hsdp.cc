// hsdp: fsdp among the ranks of a node; the gradients of a shard are averaged among the nodes.
#include <fmt/format.h>

#include "collectives/node_grid.h"
#include "comm/errors.h"
#include "parallel/fsdp_prefetch.h"
#include "training/run/strategies/equal_shares.h"
#include "training/run/strategies/layer_shards_trainer.h"

namespace rankbox::train {
namespace {

std::unique_ptr<Trainer> make(Comm& dist, const Model& model, const Plan& plan) {
  try {
    // The mesh is made once: a split is a collective of all ranks.
    const NodeGrid grid = split_by_node(dist, Place{});
    return std::make_unique<LayerShardsTrainer>(dist, model, plan, fsdp_prefetch, grid);
  } catch (const UnevenNodes& error) {
    throw InvalidArgument(fmt::format("--strategy hsdp: {}", error.what()), error.context());
  }
}

}  // namespace

const Strategy kHsdp = {
    .name = "hsdp",
    .summary = "as fsdp inside each node; a whole model per node, gradients averaged between nodes",
    .check = check_equal_shares,
    .make = make,
    .uses =
        [](const Plan& plan) {
          return with_loss_scaling(
              plan, {"fsdp_prefetch", "ddp_average_gradients", "ddp_init_broadcast"});
        },
};

}  // namespace rankbox::train
