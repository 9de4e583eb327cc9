// zero2: as zero1, and each layer's gradients go to their owners right after its backward.
//
// They go there for every batch of a step, and are added up in the shards: to keep whole gradients
// until the last batch would take the memory that this strategy saves.
#include "parallel/zero2.h"

#include <utility>

#include "training/run/strategies/equal_shares.h"
#include "training/run/strategies/zero_trainer.h"

namespace rankbox::train {
namespace {

class Zero2 : public ZeroTrainer {
 public:
  Zero2(Comm& dist, const Model& recipes, const Plan& plan)
      : ZeroTrainer(dist, recipes, plan, ShardsOf::kLayers, Values::kKept) {
    step_after(plan.accumulate);
  }

  Loss step(std::vector<Batch> batches, std::int64_t number) override {
    Loss total;
    for (Batch& batch : batches) {
      Saved saved(batch.pass(Mode::kTraining, number));
      Loss loss = forward(std::move(batch), saved);
      zero2(dist(), model(), std::move(loss.gradient), saved, shards(), each_step());
      add_to(total, loss);
    }
    return total;
  }
};

std::unique_ptr<Trainer> make(Comm& dist, const Model& model, const Plan& plan) {
  return std::make_unique<Zero2>(dist, model, plan);
}

}  // namespace

const Strategy kZero2 = {
    .name = "zero2",
    .summary = "… and gradients, too",
    .check = check_equal_shares,
    .make = make,
    .uses =
        [](const Plan& plan) {
          return with_loss_scaling(plan, {"zero2", "ddp_init_broadcast"});
        },
};

}  // namespace rankbox::train
