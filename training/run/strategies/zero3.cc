// zero3: as zero2, and weights exist only while their layer computes, also in evaluation.
//
// With several batches a step, gradients are added up in the shards, as in zero2.
#include "parallel/zero3.h"

#include <utility>

#include "training/run/strategies/equal_shares.h"
#include "training/run/strategies/zero_trainer.h"

namespace rankbox::train {
namespace {

class Zero3 : public ZeroTrainer {
 public:
  Zero3(Comm& dist, const Model& recipes, const Plan& plan)
      : ZeroTrainer(dist, recipes, plan, ShardsOf::kLayers, Values::kDropped) {
    step_after(plan.accumulate);
  }

  Loss step(std::vector<Batch> batches, std::int64_t number) override {
    Loss total;
    for (const Batch& batch : batches) {
      Saved saved(batch.pass(Mode::kTraining, number));
      Loss loss;
      zero3(dist(), model(), batch, saved, shards(), loss, each_step());
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
        Tensor flat = flat_for(shard, dist().world_size());
        dist().all_gather(shard.mine.value, flat);
        unpack_values(flat, shard, parameters);
      }
      y = model().layer(i).forward(std::move(y), saved);
      drop_values(parameters);
    }
    return judged(y, batch, counts);
  }
};

std::unique_ptr<Trainer> make(Comm& dist, const Model& model, const Plan& plan) {
  return std::make_unique<Zero3>(dist, model, plan);
}

}  // namespace

const Strategy kZero3 = {
    .name = "zero3",
    .summary = "… and weights, too: a layer is whole while it works",
    .check = check_equal_shares,
    .make = make,
    .uses =
        [](const Plan& plan) {
          return with_loss_scaling(plan, {"zero3", "ddp_init_broadcast"});
        },
};

}  // namespace rankbox::train
