#include "training/run/strategies/zero_trainer.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "parallel/ddp_average_gradients.h"
#include "parallel/ddp_init_broadcast.h"

namespace rankbox::train {
namespace {

using Slices = std::vector<Slice>;  // of rank 0's whole model; empty elsewhere

/// Returns the slices one after the other, padded with zeros.
Tensor packed(const Slices& slices, std::int64_t size) {
  Tensor flat = zeros(size);
  std::int64_t at = 0;
  for (const Slice& slice : slices) {
    copy(Slice(flat).sub(at, at + slice.size()), slice);
    at += slice.size();
  }
  return flat;
}

void scatter_packed(Comm& dist, const Slices& whole, Tensor& mine) {
  Tensor flat;
  if (dist.rank() == 0) flat = packed(whole, mine.size() * dist.world_size());
  dist.scatter(flat, mine, 0);
}

void gather_packed(Comm& dist, const Slices& whole, Tensor& mine) {
  Tensor flat;
  if (dist.rank() == 0) flat = zeros(mine.size() * dist.world_size());
  dist.gather(mine, flat, 0);
  std::int64_t at = 0;
  for (const Slice& slice : whole) {
    copy(slice, Slice(flat).sub(at, at + slice.size()));
    at += slice.size();
  }
}

std::map<std::string, NamedTensor*> by_name(Optimizer& optimizer) {
  std::map<std::string, NamedTensor*> all;
  for (NamedTensor* tensor : optimizer.state()) all[tensor->name] = tensor;
  return all;
}

}  // namespace

ZeroTrainer::ZeroTrainer(Comm& dist, const Model& recipes, const Plan& plan, ShardsOf shards_of,
                         Values values, std::optional<NodeGrid> grid)
    : ShardedTrainer(dist, recipes, plan), grid_(grid), shards_of_(shards_of), values_(values) {
  const auto shard = [&](const std::vector<Parameter*>& parameters) {
    shards_.push_back(make_shard(parameters, sharers().rank(), sharers().world_size()));
    shards_.back().mine.name = "shard" + std::to_string(shards_.size());
  };
  // Layer by layer, so that no rank holds a whole model whose values are not kept.
  for (const auto& recipe : layers()) {
    model_.add(recipe.name, recipe.make());
    const std::vector<Parameter*> parameters = model_.layer(model_.size() - 1).parameters();
    if (shards_of_ == ShardsOf::kLayers) shard(parameters);
    if (values_ == Values::kDropped) drop_values(parameters);
  }
  if (mixed() != nullptr) {
    model_.add("loss_scale", mixed()->loss_scale_layer());
    if (shards_of_ == ShardsOf::kLayers) shard({});
  }
  model_.omit_input_gradient();
  if (shards_of_ == ShardsOf::kWholeModel) shard(model_.parameters());
  optimizer_ = make_optimizer(plan, mine_of(shards_));
}

std::vector<std::vector<Parameter*>> ZeroTrainer::groups_of(Sequential& model) const {
  if (shards_of_ == ShardsOf::kWholeModel) return {model.parameters()};
  std::vector<std::vector<Parameter*>> groups;
  for (std::int64_t i = 0; i < model.size(); ++i) groups.push_back(model.layer(i).parameters());
  return groups;
}

template <class Carry>
void ZeroTrainer::carry_shards(WholeModel* whole, Carry carry) {
  std::vector<std::vector<Parameter*>> groups(shards_.size());
  std::map<std::string, NamedTensor*> state;
  if (whole != nullptr) {
    groups = groups_of(whole->model);
    state = by_name(*whole->optimizer);
  }
  for (std::size_t k = 0; k < shards_.size(); ++k) {
    Parameter& mine = shards_[k].mine;
    if (mine.value.empty()) continue;
    Slices values;
    for (Parameter* parameter : groups[k]) values.emplace_back(parameter->value);
    carry(values, mine.value);
    // "shard3.velocity" is a piece of "fc2.weight.velocity" and "fc2.bias.velocity".
    for (NamedTensor* tensor : optimizer_->state()) {
      if (!tensor->name.starts_with(mine.name + ".")) continue;
      const std::string ending = tensor->name.substr(mine.name.size());
      Slices pieces;
      for (const Parameter* parameter : groups[k])
        pieces.emplace_back(state.at(parameter->name + ending)->value);
      carry(pieces, tensor->value);
    }
  }
}

void ZeroTrainer::distribute(WholeModel* whole) {
  // The node of rank 0 gets the shards, and passes each on to its copies.
  carry_shards(whole, [this](const Slices& from, Tensor& mine) {
    if (is_first_copy()) scatter_packed(sharers(), from, mine);
    if (grid_) grid_->counterparts.broadcast(mine, 0);
  });
  // State outside the shards: the number of steps, and statistics.
  std::map<std::string, NamedTensor*> state;
  if (whole != nullptr) state = by_name(*whole->optimizer);
  for (NamedTensor* tensor : optimizer_->state()) {
    if (tensor->name.starts_with("shard")) continue;
    if (whole != nullptr) copy(tensor->value, state.at(tensor->name)->value);
    dist().broadcast(tensor->value, 0);
  }
  const std::vector<NamedTensor*> statistics = model_.statistics();
  for (std::size_t i = 0; whole != nullptr && i < statistics.size(); ++i)
    copy(statistics[i]->value, whole->model.statistics()[i]->value);
  ddp_init_broadcast(dist(), {}, statistics);
  if (values_ == Values::kDropped) return;

  const std::vector<Parameter*> parameters = model_.parameters();
  for (std::size_t i = 0; whole != nullptr && i < parameters.size(); ++i)
    copy(parameters[i]->value, whole->model.parameters()[i]->value);
  ddp_init_broadcast(dist(), parameters, {});
}

void ZeroTrainer::collect(WholeModel* whole) {
  carry_shards(whole, [this](const Slices& to, Tensor& mine) {
    if (is_first_copy()) gather_packed(sharers(), to, mine);
  });
  if (whole == nullptr) return;
  const std::map<std::string, NamedTensor*> state = by_name(*whole->optimizer);
  for (NamedTensor* tensor : optimizer_->state()) {
    if (!tensor->name.starts_with("shard")) copy(state.at(tensor->name)->value, tensor->value);
  }
  const std::vector<NamedTensor*> statistics = model_.statistics();
  for (std::size_t i = 0; i < statistics.size(); ++i)
    copy(whole->model.statistics()[i]->value, statistics[i]->value);
}

void ZeroTrainer::average_copies() {
  if (grid_) ddp_average_gradients(grid_->counterparts, mine_of(shards_));
}

void ZeroTrainer::prepare_evaluation() { ddp_init_broadcast(dist(), {}, model_.statistics()); }

Loss ZeroTrainer::forward(Batch batch, Saved& saved, double divisor) {
  return cross_entropy(model_.forward(std::move(batch.x), saved), batch.labels, divisor);
}

Loss ZeroTrainer::evaluate(Batch batch, ClassCounts& counts) {
  Saved saved(batch.pass(Mode::kEvaluation));
  return judged(model_.forward(std::move(batch.x), saved), batch, counts);
}

}  // namespace rankbox::train
