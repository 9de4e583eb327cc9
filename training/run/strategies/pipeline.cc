// pipeline: one stage of the model per rank, on the schedule of pipeline_1f1b.
//
// Each batch is split into micro-batches, two per rank; with several batches a step, those of all
// of them go through the pipeline one after the other. Parameters equal those of `single` up to
// rounding: gradients of micro-batches add up to the batch's. Batch norm is the exception: it
// normalizes every micro-batch separately, and its running statistics change with each of them.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "comm/errors.h"
#include "parallel/pipeline_1f1b.h"
#include "parallel/stage.h"
#include "training/run/strategies/micro_batches.h"
#include "training/run/strategies/sharded_trainer.h"

namespace rankbox::train {
namespace {

using Tensors = std::map<std::string, Tensor*>;  // by name, so in the same order on both sides

Tensors tensors_of(Sequential& layers, Optimizer& optimizer) {
  Tensors all;
  for (Parameter* parameter : layers.parameters()) all[parameter->name] = &parameter->value;
  for (NamedTensor* tensor : layers.statistics()) all[tensor->name] = &tensor->value;
  for (NamedTensor* tensor : optimizer.state()) all[tensor->name] = &tensor->value;
  return all;
}

class PipelineTrainer : public ShardedTrainer {
 public:
  PipelineTrainer(Comm& dist, const Model& recipes, const Plan& plan)
      : ShardedTrainer(dist, recipes, plan),
        cuts_(cut_into_stages(recipes, dist.world_size())),
        stage_(layers(), cuts_[static_cast<std::size_t>(dist.rank())]),
        optimizer_(make_optimizer(plan, stage_.parameters())) {
    if (mixed() != nullptr && stage_.is_last())
      stage_.layers().add("loss_scale", mixed()->loss_scale_layer());
  }

  DataShare data_share() const override { return {}; }

  Loss step(std::vector<Batch> batches, std::int64_t number) override {
    learn_shapes(batches.front());
    zero_gradients(stage_.parameters());
    std::vector<Batch> pieces;
    for (const Batch& batch : batches) {
      for (Batch& piece : micro_batches_of(batch, micro_batches_in(batch)))
        pieces.push_back(std::move(piece));
    }
    stage_.load(std::move(pieces), number);
    pipeline_1f1b(dist(), stage_);
    take_step(stage_.parameters());
    const Loss& loss = stage_.loss();
    return {loss.sum, loss.counted, loss.correct, {}};  // totals on the last stage, else zero
  }

  ScheduledOptimizer& optimizer() override { return *optimizer_; }

  /// Batches follow each other down the stages; no gradients are sent back.
  Loss evaluate(Batch batch, ClassCounts& counts) override {
    learn_shapes(batch);
    Tensor x = std::move(batch.x);
    if (!stage_.is_first()) {
      x = empty_input(batch.size());
      dist().recv(x, dist().rank() - 1);
    }
    Saved saved(batch.pass(Mode::kEvaluation));
    const Tensor y = stage_.layers().forward(std::move(x), saved);
    if (stage_.is_last()) return judged(y, batch, counts);
    dist().send(y, dist().rank() + 1);
    return {};
  }

 protected:
  void distribute(WholeModel* whole) override {
    carry(
        whole, [](Tensor& there, Tensor& mine) { copy(mine, there); },
        [this](Tensor& there, int to) { dist().send(there, to); },
        [this](Tensor& mine) { dist().recv(mine, 0); });
  }
  void collect(WholeModel* whole) override {
    carry(
        whole, [](Tensor& there, Tensor& mine) { copy(there, mine); },
        [this](Tensor& there, int from) { dist().recv(there, from); },
        [this](Tensor& mine) { dist().send(mine, 0); });
  }

 private:
  int micro_batches_in(const Batch& batch) {
    const int ranks = dist().world_size();
    return ranks == 1 ? 1 : static_cast<int>(std::min<std::int64_t>(2 * ranks, batch.size()));
  }

  /// Records the shape of one sample before and after each stage, known from the first batch.
  void learn_shapes(const Batch& batch) {
    if (knows_shapes_) return;
    const std::vector<std::int64_t>& extents = batch.x.shape().extents();
    find_shapes(recipes(), std::vector<std::int64_t>(extents.begin() + 1, extents.end()), cuts_);
    const StageCut& own = cuts_[static_cast<std::size_t>(dist().rank())];
    stage_.set_shapes(own.input, own.output);
    knows_shapes_ = true;
  }

  Tensor empty_input(std::int64_t samples) {
    const StageCut& own = cuts_[static_cast<std::size_t>(dist().rank())];
    std::vector<std::int64_t> extents = own.input.extents();
    extents.insert(extents.begin(), samples);
    return Tensor(extents);
  }

  /// Returns whether stage `rank` has the tensor with this name: its layers do, or no layer does,
  /// as with the number of steps.
  bool has(int rank, const std::string& name) const {
    const auto& recipe = std::ranges::find_if(
        recipes(), [&](const auto& layer) { return name.starts_with(layer.name + "."); });
    if (recipe == recipes().end()) return true;
    const std::int64_t layer = recipe - recipes().begin();
    const StageCut& cut = cuts_[static_cast<std::size_t>(rank)];
    return cut.begin <= layer && layer < cut.end;
  }

  /// Moves each tensor between rank 0's whole model and the rank that has it.
  template <class AtHome, class Away, class Mine>
  void carry(WholeModel* whole, AtHome at_home, Away away, Mine mine) {
    const Tensors own = tensors_of(stage_.layers(), *optimizer_);
    if (whole == nullptr) {
      for (const auto& [name, tensor] : own) mine(*tensor);
      return;
    }
    for (int rank = 0; rank < dist().world_size(); ++rank) {
      for (const auto& [name, tensor] : tensors_of(whole->model, *whole->optimizer)) {
        if (!has(rank, name)) continue;
        if (rank == 0)
          at_home(*tensor, *own.at(name));
        else
          away(*tensor, rank);
      }
    }
  }

  std::vector<StageCut> cuts_;  // [rank]
  Stage stage_;
  std::unique_ptr<ScheduledOptimizer> optimizer_;
  bool knows_shapes_ = false;
};

void check(const Plan& /*plan*/, std::int64_t /*samples*/) {
}  // the model, which may be too short, is checked later

std::unique_ptr<Trainer> make(Comm& dist, const Model& model, const Plan& plan) {
  if (static_cast<std::size_t>(dist.world_size()) > model.size()) {
    throw InvalidArgument(
        fmt::format("--ranks {}: pipeline gives each rank a stage of the model, which has {} "
                    "layers; give --ranks {} at most",
                    dist.world_size(), model.size(), model.size()));
  }
  return std::make_unique<PipelineTrainer>(dist, model, plan);
}

}  // namespace

const Strategy kPipeline = {
    .name = "pipeline",
    .summary = "one stage of the model per rank, batches in micro-batches",
    .check = check,
    .make = make,
    .uses = [](const Plan& plan) { return with_loss_scaling(plan, {"pipeline_1f1b"}); },
    .shares_batches = false,
};

}  // namespace rankbox::train
