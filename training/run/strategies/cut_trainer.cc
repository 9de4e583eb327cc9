#include "training/run/strategies/cut_trainer.h"

#include <map>
#include <utility>

#include "parallel/layer_shards.h"
#include "training/run/strategies/micro_batches.h"

namespace rankbox::train {
namespace {

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

}  // namespace

void CutTrainer::take(const std::vector<ShardedParameter>& parameters) {
  parameters_ = parameters;
  for (const ShardedParameter& each : parameters_) {
    mine_.push_back(each.mine);
    (each.cut == Cut::kNone ? replicated_ : sharded_).push_back(each.mine);
  }
  optimizer_ = make_optimizer(plan(), mine_);
}

Loss CutTrainer::step(std::vector<Batch> batches, std::int64_t number) {
  Loss loss;
  bool skip = false;
  const auto find = [&](float factor) {
    return find_gradients(std::move(batches), number, factor);
  };
  if (mixed() != nullptr) {
    loss = mixed()->find_gradients(
        dist(), mine_, find, [this] { average(); }, skip);
  } else {
    loss = find(1);
    average();
  }
  if (!skip) {
    clip(dist(), sharded_, replicated_, plan().clip_norm);
    ComputeTime time(dist());
    optimizer_->step();
    time.stop();
  }
  return loss;
}

Loss CutTrainer::evaluate(Batch batch, ClassCounts& counts) {
  Saved saved(batch.pass(Mode::kEvaluation));
  return judged(forward(std::move(batch.x), saved), batch, counts);
}

void CutTrainer::distribute(WholeModel* whole) {
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

void CutTrainer::collect(WholeModel* whole) {
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

Loss CutTrainer::find_gradients(std::vector<Batch> batches, std::int64_t number, float factor) {
  zero_gradients(mine_);
  const double samples = samples_in(batches);
  Loss total;
  for (Batch& batch : batches) {
    Saved saved(batch.pass(Mode::kTraining, number));
    Loss loss = cross_entropy(forward(std::move(batch.x), saved), batch.labels, samples);
    if (factor != 1) loss.gradient *= factor;
    backward(std::move(loss.gradient), saved);
    add_to(total, loss);
  }
  return total;
}

std::vector<CutTrainer::Carried> CutTrainer::carried(WholeModel* whole) {
  std::map<std::string, Tensor*> all;  // of the whole model, by name
  if (whole != nullptr) {
    for (Parameter* parameter : whole->model.parameters()) all[parameter->name] = &parameter->value;
    for (NamedTensor* tensor : whole->model.statistics()) all[tensor->name] = &tensor->value;
    for (NamedTensor* tensor : whole->optimizer->state()) all[tensor->name] = &tensor->value;
  }
  std::vector<Carried> list;
  const auto add = [&](const std::string& name, Tensor& mine, Cut cut) {
    list.push_back({&mine, cut, whole == nullptr ? nullptr : all.at(name)});
  };
  for (const auto& [mine, cut] : parameters_) add(mine->name, mine->value, cut);
  for (NamedTensor* tensor : statistics()) add(tensor->name, tensor->value, Cut::kNone);
  for (NamedTensor* tensor : optimizer_->state())
    add(tensor->name, tensor->value, cut_of_state(tensor->name));
  return list;
}

Cut CutTrainer::cut_of_state(const std::string& name) const {
  for (const auto& [mine, cut] : parameters_) {
    if (name.starts_with(mine->name + ".")) return cut;
  }
  return Cut::kNone;
}

}  // namespace rankbox::train
