// Base of zero3, fsdp and hsdp: weights exist only while their layer computes, also in evaluation.
//
// With several batches a step, gradients are added up in the shards, as in zero2.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "training/run/strategies/zero_trainer.h"

namespace rankbox::train {

/// zero3, or another function with its arguments and its result.
using LayerShardsStep = void (*)(Comm& dist, Sequential& model, const Batch& batch, Saved& saved,
                                 std::vector<Shard>& shards, Loss& loss, Optimizer& optimizer);

class LayerShardsTrainer : public ZeroTrainer {
 public:
  LayerShardsTrainer(Comm& dist, const Model& recipes, const Plan& plan, LayerShardsStep one_pass,
                     std::optional<NodeGrid> grid = {})
      : ZeroTrainer(dist, recipes, plan, ShardsOf::kLayers, Values::kDropped, grid),
        one_pass_(one_pass) {
    step_after(plan.accumulate);
  }

  Loss step(std::vector<Batch> batches, std::int64_t number) override {
    Loss total;
    for (const Batch& batch : batches) {
      Saved saved(batch.pass(Mode::kTraining, number));
      Loss loss;
      one_pass_(sharers(), model(), batch, saved, shards(), loss, each_step());
      add_to(total, loss);
    }
    return total;
  }

  Loss evaluate(Batch batch, ClassCounts& counts) override {
    Saved saved(batch.pass(Mode::kEvaluation));
    Tensor y = std::move(batch.x);
    for (std::int64_t i = 0; i < model().size(); ++i) {
      const std::vector<Parameter*> parameters = model().layer(i).parameters();
      const Shard& shard = shards()[static_cast<std::size_t>(i)];
      if (!parameters.empty()) {
        Tensor flat = flat_for(shard, sharers().world_size());
        sharers().all_gather(shard.mine.value, flat);
        unpack_values(flat, shard, parameters);
      }
      y = model().layer(i).forward(std::move(y), saved);
      drop_values(parameters);
    }
    return judged(y, batch, counts);
  }

 private:
  LayerShardsStep one_pass_;
};

}  // namespace rankbox::train
