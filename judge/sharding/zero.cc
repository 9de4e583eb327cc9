// Judges zero1, zero2 and zero3: the values of unsharded training, in a shard's memory.
#include <algorithm>

#include "judge/sharding/sharded_step.h"
#include "judge/sharding/sharded_training.h"
#include "judge/training/native_calls.h"
#include "judge/training_families.h"
#include "parallel/zero1.h"
#include "parallel/zero2.h"
#include "parallel/zero3.h"
#include "training/cross_entropy.h"

namespace rankbox {

namespace {

using Zero1 = decltype(&zero1);
using Zero2 = decltype(&zero2);

constexpr std::size_t kUnused = 2;  // in a case of zero1, the parameter that odd ranks do not use

std::vector<std::int64_t> sizes_by_layer(const Case& example) {
  return sharded_layer_sizes(*example.count);
}

std::vector<std::int64_t> size_of_all(const Case& example) { return {elements_of_all(example)}; }

/// After zero1 a gradient may be as it was, zero, or empty.
std::optional<Difference> compare_gradients(const std::vector<Parameter*>& parameters,
                                            const std::vector<Tensor>& before) {
  for (std::size_t k = 0; k < before.size(); ++k) {
    const std::vector<float> is = to_host(parameters[k]->gradient);
    const bool is_zero = std::all_of(is.begin(), is.end(), [](float each) { return each == 0; });
    if (is_zero || is == to_host(before[k])) continue;
    return Difference{parameters[k]->name + "'s gradient",
                      -1,
                      "as it was, zero, or empty",
                      "something else",
                      {"mean-into-shard", "the mean belongs to the shard"}};
  }
  return std::nullopt;
}

std::optional<Difference> run_zero1(Zero1 function, Comm& dist, const Case& example) {
  const ShardBytes bytes = shard_bytes(size_of_all(example), dist.world_size());
  // A flat tensor, the shard's gradient, and one spare shard for programs that need it.
  const MemoryLimit limit = {bytes.largest + 2 * bytes.largest_shard, bytes.largest_shard};

  ShardedTraining training(example, dist.rank(), all_in_one);
  const bool has_unused = *example.steps == 0 && *example.count > 2;
  if (has_unused) training.set_unused(kUnused);
  return training.run(limit, [&](const Batch& mine, const Watch& watch) {
    zero_gradients(training.model.parameters());
    add_gradients(training.model, mine);
    const std::vector<Parameter*> parameters = training.model.parameters();
    if (has_unused && dist.rank() % 2 == 1) parameters[kUnused]->gradient = {};
    std::vector<Tensor> before;
    for (const Parameter* parameter : parameters) before.push_back(parameter->gradient);
    watch([&] { function(dist, parameters, training.shards.front(), training.optimizer); });
    return compare_gradients(parameters, before);
  });
}

std::optional<Difference> run_zero2(Zero2 function, Comm& dist, const Case& example) {
  const ShardBytes bytes = shard_bytes(sizes_by_layer(example), dist.world_size());
  // One layer's gradients, a flat copy, the shards' gradients, and one spare shard.
  const MemoryLimit limit = {2 * bytes.largest + bytes.all_shards + bytes.largest_shard,
                             bytes.all_shards};

  ShardedTraining training(example, dist.rank(), by_layer);
  training.set_at_pass([&](const Layer& layer, bool is_backward) {
    return compare_at_pass(training.model, layer, is_backward, Whole::kAll);
  });
  return training.run(limit, [&](const Batch& mine, const Watch& watch) {
    Saved saved(mine.pass(Mode::kTraining));
    Loss loss = cross_entropy(training.model.forward(mine.x, saved), mine.labels);
    watch([&] {
      function(dist, training.model, std::move(loss.gradient), saved, training.shards,
               training.optimizer);
    });
    if (auto wrong = compare_saved(saved)) return wrong;
    return compare_dropped(training.model, /*keeps_values=*/true);
  });
}

std::optional<Difference> run_zero3(WholeStep function, Comm& dist, const Case& example) {
  const ShardBytes bytes = shard_bytes(sizes_by_layer(example), dist.world_size());
  // One layer's weights and gradients, a flat copy, the shards' gradients, and one spare shard.
  const MemoryLimit limit = {3 * bytes.largest + bytes.all_shards + bytes.largest_shard,
                             bytes.all_shards};

  ShardedTraining training(example, dist.rank(), by_layer);
  return run_whole_step(function, dist, training, limit, Whole::kNone);
}

/// A step reduce-scatters the gradients of each group once, and all-gathers the values.
/// @param gathers how often it all-gathers
Subject subject(std::vector<std::int64_t> (*sizes_in)(const Case& example), int gathers) {
  return subject_of_sharding([=](const Case& example) {
    const ShardedCalls one = sharded_calls(sizes_in(example), example.world_size);
    return repeated(steps_in(example), one.reduce_scatters + repeated(gathers, one.all_gathers));
  });
}

}  // namespace

Family family::zero1() {
  return make_family<Zero1>(
      "zero1",
      "(Comm& dist, const std::vector<Parameter*>& parameters, Shard& shard, Optimizer& optimizer)",
      subject(size_of_all, 1), run_zero1);
}

Family family::zero2() {
  return make_family<Zero2>(
      "zero2",
      "(Comm& dist, Sequential& model, Tensor dy, Saved& saved, std::vector<Shard>& shards, "
      "Optimizer& optimizer)",
      subject(sizes_by_layer, 1), run_zero2);
}

Family family::zero3() {
  return make_family<WholeStep>(
      "zero3",
      "(Comm& dist, Sequential& model, const Batch& batch, Saved& saved, std::vector<Shard>& "
      "shards, Loss& loss, Optimizer& optimizer)",
      subject(sizes_by_layer, 2), run_zero3);
}

}  // namespace rankbox
