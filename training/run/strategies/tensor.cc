// tensor: all ranks work on the whole batch, with sharded layers (tensor_parts.h).
//
// Uncut layers are whole on every rank, with the same gradients, so they stay equal without
// messages. Dropout outside blocks draws the same mask on every rank. Parameters equal those of
// `single` up to rounding.
#include <map>
#include <string>
#include <utility>

#include "parallel/layer_shards.h"
#include "training/run/strategies/micro_batches.h"
#include "training/run/strategies/sharded_trainer.h"
#include "training/run/strategies/tensor_parts.h"

namespace rankbox::train {
namespace {

/// A tensor of this rank, and on rank 0 the whole tensor that contains it.
struct Carried {
  Tensor* mine;
  Cut cut;
  Tensor* whole;
};

/// Returns columns [n·r/p, n·(r+1)/p) of rows of n, for every rank r, one rank's after the other's.
Tensor columns_apart(const Tensor& whole, int ranks) {
  Tensor flat(whole.size());
  for (int r = 0; r < ranks; ++r) copy(chunk(flat, r, ranks), column_part(whole, r, ranks));
  return flat;
}

/// The inverse of columns_apart.
void columns_together(const Tensor& flat, int ranks, Tensor& whole) {
  const std::int64_t width = whole.shape().extents().back(), own = width / ranks;
  const std::int64_t rows = whole.size() / width;
  for (std::int64_t r = 0; r < ranks; ++r) {
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t from = (r * rows + row) * own, to = row * width + r * own;
      copy(Slice(whole).sub(to, to + own), Slice(flat).sub(from, from + own));
    }
  }
}

class TensorTrainer : public ShardedTrainer {
 public:
  TensorTrainer(Comm& dist, const Model& recipes, const Plan& plan)
      : ShardedTrainer(dist, recipes, plan), parts_(dist, recipes, plan.model) {
    for (const ShardedParameter& each : parts_.parameters()) {
      mine_.push_back(each.mine);
      (each.cut == Cut::kNone ? replicated_ : sharded_).push_back(each.mine);
    }
    optimizer_ = make_optimizer(plan, mine_);
  }

  DataShare data_share() const override { return {}; }

  Loss step(std::vector<Batch> batches, std::int64_t number) override {
    Loss loss;
    bool skip = false;
    const auto find = [&](float factor) {
      return find_gradients(std::move(batches), number, factor);
    };
    // Each rank has all gradients of its parts: there is nothing to average.
    if (mixed() != nullptr)
      loss = mixed()->find_gradients(
          dist(), mine_, find, [] {}, skip);
    else
      loss = find(1);
    if (!skip) {
      clip(dist(), sharded_, replicated_, plan().clip_norm);
      ComputeTime time(dist());
      optimizer_->step();
      time.stop();
    }
    return counted_once(std::move(loss));
  }
  ScheduledOptimizer& optimizer() override { return *optimizer_; }

  Loss evaluate(Batch batch, ClassCounts& counts) override {
    Saved saved(batch.pass(Mode::kEvaluation));
    const Tensor logits = parts_.forward(std::move(batch.x), saved);
    if (dist().rank() != 0) return {};
    return judged(logits, batch, counts);
  }

 protected:
  void distribute(WholeModel* whole) override {
    for (const auto& [mine, cut, all] : carried(whole)) {
      const bool has_all = all != nullptr;
      if (cut == Cut::kNone) {
        if (has_all) copy(*mine, *all);
        dist().broadcast(*mine, 0);
      } else {
        Tensor flat;
        if (has_all) flat = cut == Cut::kRows ? clone(*all) : columns_apart(*all, ranks());
        dist().scatter(flat, *mine, 0);
      }
    }
  }

  void collect(WholeModel* whole) override {
    for (const auto& [mine, cut, all] : carried(whole)) {
      const bool has_all = all != nullptr;
      if (cut == Cut::kNone) {
        if (has_all) copy(*all, *mine);
        continue;
      }
      Tensor flat(has_all ? all->size() : 0);
      dist().gather(*mine, flat, 0);
      if (!has_all) continue;
      if (cut == Cut::kRows)
        copy(*all, flat);
      else
        columns_together(flat, ranks(), *all);
    }
  }

 private:
  int ranks() { return dist().world_size(); }

  /// Computes the gradients of factor times the mean loss over all batches.
  Loss find_gradients(std::vector<Batch> batches, std::int64_t number, float factor) {
    zero_gradients(mine_);
    const double samples = samples_in(batches);
    Loss total;
    for (Batch& batch : batches) {
      Saved saved(batch.pass(Mode::kTraining, number));
      Loss loss = cross_entropy(parts_.forward(std::move(batch.x), saved), batch.labels, samples);
      if (factor != 1) loss.gradient *= factor;
      parts_.backward(std::move(loss.gradient), saved);
      add_to(total, loss);
    }
    return total;
  }

  /// Counts a loss once: every rank has that of the whole batch.
  Loss counted_once(Loss loss) {
    if (dist().rank() != 0) return {};
    return loss;
  }

  /// Returns parameters, statistics and the optimizer's state, in the same order on all ranks.
  std::vector<Carried> carried(WholeModel* whole) {
    std::map<std::string, Tensor*> all;  // of the whole model, by name
    if (whole != nullptr) {
      for (Parameter* parameter : whole->model.parameters())
        all[parameter->name] = &parameter->value;
      for (NamedTensor* tensor : whole->model.statistics()) all[tensor->name] = &tensor->value;
      for (NamedTensor* tensor : whole->optimizer->state()) all[tensor->name] = &tensor->value;
    }
    std::vector<Carried> list;
    const auto add = [&](const std::string& name, Tensor& mine, Cut cut) {
      list.push_back({&mine, cut, whole == nullptr ? nullptr : all.at(name)});
    };
    for (const auto& [mine, cut] : parts_.parameters()) add(mine->name, mine->value, cut);
    for (NamedTensor* tensor : parts_.statistics()) add(tensor->name, tensor->value, Cut::kNone);
    for (NamedTensor* tensor : optimizer_->state())
      add(tensor->name, tensor->value, cut_of_state(tensor->name));
    return list;
  }

  /// "fc1.weight.velocity" is cut as "fc1.weight".
  Cut cut_of_state(const std::string& name) const {
    for (const auto& [mine, cut] : parts_.parameters()) {
      if (name.starts_with(mine->name + ".")) return cut;
    }
    return Cut::kNone;
  }

  TensorParts parts_;
  std::vector<Parameter*> mine_;        // `sharded_` and `replicated_`, in the model's order
  std::vector<Parameter*> sharded_;     // parts, which no other rank has
  std::vector<Parameter*> replicated_;  // the same on all ranks
  std::unique_ptr<ScheduledOptimizer> optimizer_;
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
