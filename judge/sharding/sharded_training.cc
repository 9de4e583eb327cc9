#include "judge/sharding/sharded_training.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "judge/case_lists.h"
#include "judge/judge.h"
#include "judge/memory_window.h"
#include "judge/salt.h"
#include "judge/training/known_mistakes.h"

namespace rankbox {

namespace {

constexpr std::int64_t kWidth = 9;
constexpr std::int64_t kDropping = 2;  // of a model with dropout
// Layers of 100 KiB: half a layer exceeds bookkeeping and activations.
constexpr std::int64_t kWide = 160;
constexpr int kWideSteps = 2;
// Many layers of 263 KB: all of them are far more than what a step may hold.
constexpr std::int64_t kLarge = 256;
constexpr std::int64_t kBookkeeping = std::int64_t{16} << 10;

std::size_t hidden_layers(std::int64_t width) { return width < kLarge ? 4 : 16; }

/// Returns the bytes of eight tensors of the widest activation of this rank's samples, and of those
/// that activations save.
std::int64_t activation_bytes(std::int64_t width) {
  const std::int64_t tensors = 8 + static_cast<std::int64_t>(hidden_layers(width));
  return tensors * kSamplesPerRank * width * kElementBytes;
}

std::string in_bytes(std::int64_t bytes) { return fmt::format("{} bytes", bytes); }

/// Returns the result of a training, as named tensors.
std::vector<NamedTensor> state_of(const std::vector<Parameter*>& parameters,
                                  const std::vector<Shard>& shards, int rank, int world_size) {
  std::vector<NamedTensor> state;
  for (const Parameter* parameter : parameters) {
    if (!parameter->value.empty()) state.push_back({parameter->name, parameter->value});
  }
  for (std::size_t k = 0; k < shards.size(); ++k) {
    // The padding after the last element belongs to no parameter.
    std::int64_t elements = 0;
    for (const Shape& shape : shards[k].shapes) elements += shape.elements();
    const std::int64_t each = shard_size(elements, world_size);
    const std::int64_t mine = std::clamp<std::int64_t>(elements - rank * each, 0, each);
    if (mine == 0) continue;
    Tensor part{Shape(mine)};
    copy(part, Slice(shards[k].mine.value).sub(0, mine));
    state.push_back({fmt::format("the shard of group {}", k), std::move(part)});
  }
  return state;
}

std::vector<Shard> shards_of(const Groups& groups, int rank, int world_size) {
  std::vector<Shard> shards;
  for (const std::vector<Parameter*>& group : groups)
    shards.push_back(make_shard(group, rank, world_size));
  return shards;
}

/// Returns the state of a model with all values; `with_values`: not only the shards.
std::vector<NamedTensor> state_of_whole(Sequential& model, Groups (*group)(Sequential& model),
                                        bool with_values, int rank, int world_size) {
  const std::vector<Shard> shards = shards_of(group(model), rank, world_size);
  return state_of(with_values ? model.parameters() : std::vector<Parameter*>{}, shards, rank,
                  world_size);
}

/// Takes one step with the gradient of `parts` of the batch.
void step_with(Sequential& model, const std::vector<Weighted>& parts) {
  Sgd optimizer(model.parameters(), small_sgd());
  add_weighted_gradients(model, parts);
  optimizer.step();
}

/// Takes the first step of a model; ranks of odd number do not use one parameter.
void step_with_unused(Sequential& model, std::int64_t width, int world_size,
                      std::size_t parameter) {
  const Batch whole = padded_batch(world_size, 0);
  Sequential of_users(sharded_model(width));
  std::vector<Weighted> parts;
  for (int rank = 0; rank < world_size; rank += 2)
    parts.push_back({part_of(whole, rank, world_size), 1.0 / world_size});
  add_weighted_gradients(of_users, parts);
  Sgd optimizer(model.parameters(), small_sgd());
  add_gradients(model, whole);
  model.parameters()[parameter]->gradient = of_users.parameters()[parameter]->gradient;
  optimizer.step();
}

/// Returns the model with layers that call this function.
Model watched(const Model& model, const OnPass& on_pass) {
  Model all;
  for (const auto& recipe : model)
    all.push_back(
        {recipe.name, [=] { return std::make_unique<WatchedLayer>(recipe.make(), on_pass); }});
  return all;
}

/// Compares a step's memory with the limit, plus a margin for activations and bookkeeping.
std::optional<Difference> compare_memory(const MemoryWindow& window, const MemoryLimit& limit,
                                         std::int64_t width) {
  if (judges_only_values()) return std::nullopt;  // libraries hold their own memory
  const std::int64_t peak = limit.peak + activation_bytes(width) + kBookkeeping;
  const std::int64_t kept = limit.kept + kBookkeeping;
  const bool keeps = window.kept() > kept;
  if (!keeps && window.peak() <= peak) return std::nullopt;
  Difference excess{
      keeps ? "memory still held after a step" : "memory held at the worst moment of a step", -1,
      "at most " + in_bytes(keeps ? kept : peak), in_bytes(keeps ? window.kept() : window.peak()),
      keeps ? Hint("copy-kept-after-step",
                   "besides what was given: is a copy kept for the next step? Each rank has its "
                   "shard, "
                   "and nothing of the others'")
            : Hint("whole-for-too-long",
                   "besides what was given: is something whole for longer than it is needed?")};
  excess.kind = FailureKind::kMemory;
  return excess;
}

}  // namespace

Model sharded_model(std::int64_t width) {
  Model model = smooth_model(std::vector<std::int64_t>(hidden_layers(width), width));
  if (width == kDropping) model.insert(model.begin(), dropout_of_samples("dropout0"));
  return model;
}

std::vector<std::int64_t> sharded_layer_sizes(std::int64_t width) {
  std::vector<std::int64_t> sizes(hidden_layers(width) + 1, width * width + width);
  sizes.front() = kSmallInputs * width + width;
  sizes.back() = width * kSmallClasses + kSmallClasses;
  return sizes;
}

std::vector<Case> cases_of_sharding() {
  std::vector<Case> cases;
  const auto add = [&](int world_size, std::int64_t width, int steps) {
    cases.push_back({.world_size = world_size, .count = width, .steps = steps});
  };
  for (const int world_size : world_sizes()) {
    for (const std::int64_t width : {std::int64_t{1}, kDropping, kWidth}) add(world_size, width, 0);
    add(world_size, kWidth, steps_of_training(world_size));
  }
  for (const int world_size : {2, 3, 4, 8}) add(world_size, kWide, kWideSteps);
  return cases;
}

std::vector<Case> large_cases_of_sharding() {
  return {{.world_size = 2, .count = kLarge, .steps = 0}};
}

int steps_in(const Case& example) { return std::max(1, *example.steps); }

int ranks_of_copy(const Case& example) { return example.world_size / example.nodes.value_or(1); }

Groups all_in_one(Sequential& model) { return {model.parameters()}; }

Groups by_layer(Sequential& model) {
  Groups groups;
  for (std::int64_t i = 0; i < model.size(); ++i) groups.push_back(model.layer(i).parameters());
  return groups;
}

ShardedTraining::ShardedTraining(const Case& example, int rank, Groups (*group)(Sequential& model))
    : model(watched(sharded_model(*example.count),
                    [this](const Layer& layer, bool is_backward) {
                      if (on_pass_) on_pass_(layer, is_backward);
                      if (!at_pass_ || wrong_ || UncountedMemory::lives()) return;
                      wrong_ = at_pass_(layer, is_backward);
                    })),
      shards(shards_of(group(model), rank % ranks_of_copy(example), ranks_of_copy(example))),
      optimizer(mine_of(shards), small_sgd()),
      example_(example),
      rank_(rank),
      place_(rank % ranks_of_copy(example)),
      group_(group) {}

std::optional<Difference> ShardedTraining::run(
    const MemoryLimit& limit,
    const std::function<std::optional<Difference>(const Batch& mine, const Watch& watch)>& step) {
  const auto steps = [&](const std::vector<Batch>& mine,
                         const Watch& watch) -> std::optional<Difference> {
    for (const Batch& batch : mine) {
      if (auto wrong = step(batch, watch)) return wrong;
    }
    return std::nullopt;
  };
  return run_at_once(limit, steps);
}

std::optional<Difference> ShardedTraining::run_at_once(
    const MemoryLimit& limit,
    const std::function<std::optional<Difference>(const std::vector<Batch>& mine,
                                                  const Watch& watch)>& steps) {
  std::optional<Difference> excess;
  const Watch watch = [&](const std::function<void()>& call) {
    const MemoryWindow window;
    call();
    if (!excess) excess = wrong_;
    if (!excess) excess = compare_memory(window, limit, *example_.count);
  };
  std::vector<Batch> mine;
  for (int i = 0; i < steps_in(example_); ++i) {
    const Batch whole = padded_batch(example_.world_size, i);
    mine.push_back(part_of(whole, rank_, example_.world_size));
  }
  if (auto wrong = steps(mine, watch)) return wrong;
  if (auto wrong = compare()) return wrong;
  return excess;
}

std::optional<Difference> ShardedTraining::compare() {
  const int rank = rank_, p = example_.world_size;
  const int place = place_, ranks = ranks_of_copy(example_);
  const auto group = group_;
  const std::int64_t width = *example_.count;
  const std::vector<Parameter*> parameters = model.parameters();
  const bool with_values = !parameters.front()->value.empty();
  const auto state_after = [=](Sequential& trained) {
    return state_of_whole(trained, group, with_values, place, ranks);
  };
  Sequential alone(sharded_model(width));
  if (unused_) {
    step_with_unused(alone, width, p, *unused_);
  } else {
    train_alone(alone, p, steps_in(example_), padded_batch);
  }

  const auto after_one_step_with = [=](int first, int last, double weight) {
    return [=] {
      const Batch whole = padded_batch(p, 0);
      std::vector<Weighted> parts;
      for (int other = first; other < last; ++other)
        parts.push_back({part_of(whole, other, p), weight});
      Sequential wrong(sharded_model(width));
      step_with(wrong, parts);
      return state_after(wrong);
    };
  };
  std::vector<Mistake> mistakes = {
      {{"step-with-own-gradient",
        "that is a step with this rank's own gradient: the others' are missing"},
       after_one_step_with(rank, rank + 1, 1)},
      {{"step-with-sum-not-mean",
        "that is a step with the sum of all ranks' gradients: their mean is wanted"},
       after_one_step_with(0, p, 1)},
      {{"values-not-gathered",
        "the shards are right, and the values are as they were before the step: the new ones have "
        "to come back"},
       [=] {
         Sequential before(sharded_model(width));
         Sequential after(sharded_model(width));
         train_alone(after, p, 1, padded_batch);
         return state_of(with_values ? before.parameters() : std::vector<Parameter*>{},
                         shards_of(group(after), place, ranks), place, ranks);
       }},
      {{"nothing-changed", "all is as it was before the step"}, [=] {
         Sequential before(sharded_model(width));
         return state_after(before);
       }}};
  if (ranks < p) {
    mistakes.push_back({{"step-with-node-gradient",
                         "that is a step with the mean gradient of this node's ranks: the other "
                         "nodes' are missing"},
                        after_one_step_with(rank - place, rank - place + ranks, 1.0 / ranks)});
    for (const int divisor : {ranks, p / ranks}) {
      mistakes.push_back({{"sum-on-one-level",
                           "that is a sum on one level of the mesh: take the mean inside the node, "
                           "and the mean between nodes"},
                          after_one_step_with(0, p, 1.0 / divisor)});
    }
  }
  return compare_tensors(
      state_of(parameters, shards, place, ranks), state_after(alone), kTrainingBound,
      steps_in(example_) == 1 ? mistakes : std::vector<Mistake>{},
      {"mean-gradient-of-shard",
       "one rank with the whole batch gets there: is it the mean gradient of this "
       "shard, and of all its elements, also the last ones?"});
}

ShardBytes shard_bytes(const std::vector<std::int64_t>& sizes, int world_size) {
  ShardBytes bytes;
  for (const std::int64_t size : sizes) {
    const std::int64_t shard = shard_size(size, world_size) * kElementBytes;
    bytes.all_shards += shard;
    bytes.largest_shard = std::max(bytes.largest_shard, shard);
  }
  bytes.largest = bytes.largest_shard * world_size;
  return bytes;
}

}  // namespace rankbox
