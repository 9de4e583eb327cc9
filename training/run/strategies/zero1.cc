// zero1: as ddp, but each rank keeps only its shard of the optimizer's state.
#include "parallel/zero1.h"

#include <utility>

#include "training/run/strategies/equal_shares.h"
#include "training/run/strategies/zero_trainer.h"

namespace rankbox::train {
namespace {

class Zero1 : public ZeroTrainer {
 public:
  Zero1(Comm& dist, const Model& recipes, const Plan& plan)
      : ZeroTrainer(dist, recipes, plan, ShardsOf::kWholeModel, Values::kKept) {}

  Loss step(std::vector<Batch> batches, std::int64_t number) override {
    zero_gradients(model().parameters());
    const double samples = samples_in(batches);
    Loss total;
    for (Batch& batch : batches) {
      Saved saved(batch.pass(Mode::kTraining, number));
      Loss loss = forward(std::move(batch), saved, samples);
      model().backward(std::move(loss.gradient), saved);
      add_to(total, loss);
    }
    zero1(dist(), model().parameters(), shards().front(), each_step());
    return total;
  }
};

std::unique_ptr<Trainer> make(Comm& dist, const Model& model, const Plan& plan) {
  return std::make_unique<Zero1>(dist, model, plan);
}

}  // namespace

const Strategy kZero1 = {
    .name = "zero1",
    .summary = "as ddp, with the optimizer's state sharded",
    .check = check_equal_shares,
    .make = make,
    .uses =
        [](const Plan& plan) {
          return with_loss_scaling(plan, {"zero1", "ddp_init_broadcast"});
        },
};

}  // namespace rankbox::train
