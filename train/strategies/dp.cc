// dp: a master scatters its model and its batch; only it runs the optimizer.
//
// DDP replaced it. It is here for comparison; see exercises/06_data_parallel. The other ranks
// compute with what they receive. Batch norm normalizes each part separately, and the running
// statistics are the master's, as usual.
#include <utility>

#include <fmt/format.h>

#include "comm/errors.h"
#include "parallel/data_parallel.h"
#include "train/strategies/equal_shares.h"
#include "train/strategies/measured_layer.h"
#include "train/strategies/strategy.h"
#include "train/strategies/whole_model.h"

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
      : dist_(dist), whole_(measured(recipes, dist), plan) {
    whole_.model.add("logits", std::make_unique<Tap>(logits_));
  }

  /// The master scatters batches itself; batches that the others load are ignored.
  DataShare data_share() const override { return {}; }
  void start() override {}
  Loss step(Batch batch, std::int64_t /*number*/) override {
    zero_gradients(whole_.model.parameters());
    data_parallel(dist_, whole_.model, batch);
    if (is_master()) {
      ComputeTime time(dist_);
      whole_.optimizer->step();
      time.stop();
    }
    const std::int64_t part = batch.size() / dist_.world_size();
    const Batch mine = micro_batch(batch, part * dist_.rank(), part * (dist_.rank() + 1));
    Loss loss = cross_entropy(logits_, mine.labels);
    loss.gradient = {};
    return loss;
  }
  Loss evaluate(Batch batch) override {
    if (!is_master()) return {};
    Saved saved(batch.pass(Mode::kEvaluation));
    return cross_entropy(whole_.model.forward(std::move(batch.x), saved),
                         batch.labels_without_padding());
  }
  std::vector<Parameter*> parameters() override {
    return is_master() ? whole_.model.parameters() : std::vector<Parameter*>{};
  }
  void add_state(TrainingState& state) override { whole_.add_state(state); }

 private:
  bool is_master() const { return dist_.rank() == 0; }

  Comm& dist_;
  Tensor logits_;  // of this rank's part
  WholeModel whole_;
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
    .uses = [](const Plan&) -> std::vector<std::string> { return {"data_parallel"}; },
};

}  // namespace rankbox::train
