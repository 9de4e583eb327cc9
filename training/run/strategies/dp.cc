// dp: a master scatters its model and its batch; only it runs the optimizer.
//
// DDP replaced it. It is here for comparison; see exercises/06_data_parallel. The other ranks
// compute with what they receive. Batch norm normalizes each part separately, and the running
// statistics are the master's, as usual.
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "comm/errors.h"
#include "parallel/data_parallel.h"
#include "training/run/mixed_precision.h"
#include "training/run/strategies/equal_shares.h"
#include "training/run/strategies/measured_layer.h"
#include "training/run/strategies/micro_batches.h"
#include "training/run/strategies/strategy.h"
#include "training/run/strategies/whole_model.h"

namespace rankbox::train {
namespace {

/// An identity layer that keeps the latest tensor.
class Tap : public Layer {
 public:
  explicit Tap(Tensor& seen) : seen_(seen) {}
  Tensor forward(Tensor x, Saved& /*saved*/) override {
    seen_ = clone(x);
    return x;
  }
  Tensor backward(Tensor dy, Saved& /*saved*/) override { return dy; }

 private:
  Tensor& seen_;
};

class Dp : public Trainer {
 public:
  Dp(Comm& dist, const Model& recipes, const Plan& plan)
      : dist_(dist),
        clip_norm_(plan.clip_norm),
        mixed_(mixed_precision_of(plan)),
        whole_(measured(mixed_ ? mixed_->rounding_layers(recipes) : recipes, dist), plan),
        mean_(whole_.model.parameters(), plan.accumulate) {
    if (mixed_) whole_.model.add("loss_scale", mixed_->loss_scale_layer());
    whole_.model.add("logits", std::make_unique<Tap>(logits_));
  }

  /// The master scatters batches itself; batches that the others load are ignored.
  DataShare data_share() const override { return {}; }
  void start() override {
    if (!mixed_) return;
    for (NamedTensor* tensor : mixed_->state()) dist_.broadcast(tensor->value, 0);
  }
  Loss step(std::vector<Batch> batches, std::int64_t /*number*/) override {
    Loss total;
    for (const Batch& batch : batches) {
      zero_gradients(whole_.model.parameters());
      data_parallel(dist_, whole_.model, batch);
      if (is_master()) mean_.add();
      const std::int64_t part = batch.size() / dist_.world_size();
      const Batch mine = micro_batch(batch, part * dist_.rank(), part * (dist_.rank() + 1));
      add_to(total, cross_entropy(logits_, mine.labels));
    }
    // The master's gradients are the sums; if one of any rank overflowed, so did the master's.
    const bool is_good = !mixed_ || mixed_->accept(dist_, parameters());
    if (is_good) clip(dist_, parameters(), {}, clip_norm_);  // the others have none
    if (is_master() && is_good) {
      ComputeTime time(dist_);
      whole_.optimizer->step();
      time.stop();
    }
    return total;
  }
  ScheduledOptimizer& optimizer() override { return *whole_.optimizer; }
  Loss evaluate(Batch batch, ClassCounts& counts) override {
    if (!is_master()) return {};
    Saved saved(batch.pass(Mode::kEvaluation));
    return judged(whole_.model.forward(std::move(batch.x), saved), batch, counts);
  }
  std::vector<Parameter*> parameters() override {
    return is_master() ? whole_.model.parameters() : std::vector<Parameter*>{};
  }
  void add_state(TrainingState& state) override {
    whole_.add_state(state);
    if (mixed_) add_tensors(state, mixed_->state());
  }

 private:
  bool is_master() const { return dist_.rank() == 0; }

  Comm& dist_;
  double clip_norm_;
  std::optional<MixedPrecision> mixed_;
  Tensor logits_;  // of this rank's part
  WholeModel whole_;
  GradientMean mean_;
};

void check(const Plan& plan, std::int64_t samples) {
  check_equal_shares(plan, samples);
  if (plan.model != "transformer") return;
  throw InvalidArgument(
      "--model transformer: dp scatters tokens without the lengths of texts; choose --strategy "
      "ddp");
}

std::unique_ptr<Trainer> make(Comm& dist, const Model& model, const Plan& plan) {
  return std::make_unique<Dp>(dist, model, plan);
}

}  // namespace

const Strategy kDp = {
    .name = "dp",
    .summary = "a master scatters model and batch; only it runs the optimizer",
    .check = check,
    .make = make,
    .uses = [](const Plan& plan) { return with_loss_scaling(plan, {"data_parallel"}); },
};

}  // namespace rankbox::train
