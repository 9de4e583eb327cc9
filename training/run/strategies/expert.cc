// expert: the experts of a layer are spread over the ranks; each rank takes an equal share of each
// batch.
//
// All other layers are those of ddp, and gradients are averaged as there. expert_parallel_layer
// adds up what the tokens of all ranks contribute to experts and router: a sum of the gradients of
// p means, which is p times too large. Parameters equal those of `single` up to rounding.
//
// The time of the experts' products is not charged: it lies between the messages of one function.
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "parallel/ddp_average_gradients.h"
#include "parallel/expert_parallel_layer.h"
#include "parallel/experts.h"
#include "training/run/strategies/cut_trainer.h"
#include "training/run/strategies/equal_shares.h"

namespace rankbox::train {
namespace {

/// A layer of experts, of which this rank has the r-th part.
class ExpertsOfRank : public Layer {
 public:
  ExpertsOfRank(Comm& dist, std::unique_ptr<Layer> whole, Experts& layer)
      : dist_(dist), owner_(std::move(whole)), layer_(layer) {
    const std::vector<std::int64_t> extents = layer.weights.value.shape().extents();
    const int ranks = dist.world_size();
    if (extents[0] % ranks != 0) {
      throw InvalidArgument(
          fmt::format("--ranks {}: expert spreads {} experts equally over the ranks; give a number "
                      "that divides {}",
                      ranks, extents[0], extents[0]));
    }
    Tensor own({extents[0] / ranks, extents[1], extents[2]});
    copy(own, chunk(std::as_const(layer.weights.value), dist.rank(), ranks));
    layer.weights.value = std::move(own);
  }

  Tensor forward(Tensor x, Saved& saved) override {
    if (!saved.training()) layer_.count(x);
    expert_parallel_layer(dist_, part_, Direction::kForward, x, saved);
    return x;
  }
  Tensor backward(Tensor dy, Saved& saved) override {
    expert_parallel_layer(dist_, part_, Direction::kBackward, dy, saved);
    return dy;
  }
  std::vector<Parameter*> parameters() override { return part_.parameters(); }

  ExpertLayer& part() { return part_; }

 private:
  Comm& dist_;
  std::unique_ptr<Layer> owner_;  // of layer_
  Experts& layer_;
  ExpertLayer part_{layer_.router, layer_.weights, layer_.k};
};

class ExpertTrainer : public CutTrainer {
 public:
  ExpertTrainer(Comm& dist, const Model& recipes, const Plan& plan)
      : CutTrainer(dist, recipes, plan), rank_(dist.rank()), ranks_(dist.world_size()) {
    std::vector<ShardedParameter> all;
    for (const auto& recipe : recipes) {
      std::unique_ptr<Layer> layer = recipe.make();
      ExpertsOfRank* experts = nullptr;
      if (auto* const whole = dynamic_cast<Experts*>(layer.get())) {
        auto own = std::make_unique<ExpertsOfRank>(dist, std::move(layer), *whole);
        experts = own.get();
        layer = std::move(own);
      } else {
        layer = std::make_unique<MeasuredLayer>(std::move(layer), dist);
      }
      const std::vector<Parameter*> parameters = layer->parameters();
      model_.add(recipe.name, std::move(layer));
      for (Parameter* parameter : parameters) {
        const bool is_cut = experts != nullptr && parameter == &experts->part().weights;
        all.push_back({parameter, is_cut ? Cut::kRows : Cut::kNone});
        (experts != nullptr ? summed_ : dense_).push_back(parameter);
      }
    }
    model_.omit_input_gradient();
    if (summed_.empty() && ranks_ > 1) {
      throw InvalidArgument(
          fmt::format("--model {}: has no layer of experts, which expert spreads over the ranks; "
                      "choose --strategy ddp, or --model moe",
                      plan.model));
    }
    take(all);
  }

  DataShare data_share() const override { return {rank_, ranks_}; }
  // Those of batch norm are rank 0's, as in ddp.
  void prepare_evaluation() override {
    for (NamedTensor* tensor : statistics()) dist().broadcast(tensor->value, 0);
  }

 protected:
  Tensor forward(Tensor x, Saved& saved) override { return model_.forward(std::move(x), saved); }
  void backward(Tensor dy, Saved& saved) override { model_.backward(std::move(dy), saved); }
  std::vector<NamedTensor*> statistics() override { return model_.statistics(); }
  void average() override {
    ddp_average_gradients(dist(), dense_);
    for (Parameter* parameter : summed_) gradient_of(*parameter) /= static_cast<float>(ranks_);
  }

 private:
  int rank_, ranks_;
  Sequential model_;
  std::vector<Parameter*> dense_;
  std::vector<Parameter*> summed_;  // over the ranks, by expert_parallel_layer
};

std::unique_ptr<Trainer> make(Comm& dist, const Model& model, const Plan& plan) {
  return std::make_unique<ExpertTrainer>(dist, model, plan);
}

std::vector<std::string> uses(const Plan& plan) {
  return with_loss_scaling(plan, {"expert_parallel_layer", "ddp_average_gradients"});
}

}  // namespace

const Strategy kExpert = {
    .name = "expert",
    .summary = "as ddp, with the experts of a layer spread over the ranks (moe)",
    .check = check_equal_shares,
    .make = make,
    .uses = uses,
};

}  // namespace rankbox::train
