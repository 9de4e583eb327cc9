// zero3: as zero2, and weights exist only while their layer computes.
#include "parallel/zero3.h"

#include "training/run/strategies/equal_shares.h"
#include "training/run/strategies/layer_shards_trainer.h"

namespace rankbox::train {
namespace {

std::unique_ptr<Trainer> make(Comm& dist, const Model& model, const Plan& plan) {
  return std::make_unique<LayerShardsTrainer>(dist, model, plan, zero3);
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
