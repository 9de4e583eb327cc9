// fsdp: as zero3, with gathers and reduce-scatters under the passes of other layers.
#include "parallel/fsdp_prefetch.h"
#include "training/run/strategies/equal_shares.h"
#include "training/run/strategies/layer_shards_trainer.h"

namespace rankbox::train {
namespace {

std::unique_ptr<Trainer> make(Comm& dist, const Model& model, const Plan& plan) {
  return std::make_unique<LayerShardsTrainer>(dist, model, plan, fsdp_prefetch);
}

}  // namespace

const Strategy kFsdp = {
    .name = "fsdp",
    .summary = "as zero3; the next layer is gathered while this one works",
    .check = check_equal_shares,
    .make = make,
    .uses =
        [](const Plan& plan) {
          return with_loss_scaling(plan, {"fsdp_prefetch", "ddp_init_broadcast"});
        },
};

}  // namespace rankbox::train
