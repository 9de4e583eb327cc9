// tensor: all ranks work on the whole batch, with sharded layers (tensor_parts.h).
//
// Uncut layers are whole on every rank, with the same gradients, so they stay equal without
// messages. Dropout outside blocks draws the same mask on every rank. Parameters equal those of
// `single` up to rounding.
#include <utility>

#include "training/run/strategies/cut_trainer.h"
#include "training/run/strategies/tensor_parts.h"

namespace rankbox::train {
namespace {

class TensorTrainer : public CutTrainer {
 public:
  TensorTrainer(Comm& dist, const Model& recipes, const Plan& plan)
      : CutTrainer(dist, recipes, plan), parts_(dist, recipes, plan.model) {
    take(parts_.parameters());
  }

  DataShare data_share() const override { return {}; }

  // Every rank has the loss of the whole batch, which counts once.
  Loss step(std::vector<Batch> batches, std::int64_t number) override {
    Loss loss = CutTrainer::step(std::move(batches), number);
    return dist().rank() == 0 ? std::move(loss) : Loss{};
  }
  Loss evaluate(Batch batch, ClassCounts& counts) override {
    if (dist().rank() == 0) return CutTrainer::evaluate(std::move(batch), counts);
    Saved saved(batch.pass(Mode::kEvaluation));
    forward(std::move(batch.x), saved);
    return {};
  }

 protected:
  Tensor forward(Tensor x, Saved& saved) override { return parts_.forward(std::move(x), saved); }
  void backward(Tensor dy, Saved& saved) override { parts_.backward(std::move(dy), saved); }
  std::vector<NamedTensor*> statistics() override { return parts_.statistics(); }

 private:
  TensorParts parts_;
};

void check(const Plan& /*plan*/, std::int64_t /*samples*/) {}  // the model is checked later

std::unique_ptr<Trainer> make(Comm& dist, const Model& model, const Plan& plan) {
  return std::make_unique<TensorTrainer>(dist, model, plan);
}

std::vector<std::string> uses(const Plan& plan) {
  std::vector<std::string> all = {"parallel_mlp", "column_linear", "row_linear", "conjugate_f",
                                  "conjugate_g"};
  if (plan.model == "transformer") all.insert(all.begin(), "parallel_attention");
  return with_loss_scaling(plan, all);
}

}  // namespace

const Strategy kTensor = {
    .name = "tensor",
    .summary = "a part of every layer per rank, all of each batch",
    .check = check,
    .make = make,
    .uses = uses,
    .shares_batches = false,
};

}  // namespace rankbox::train
