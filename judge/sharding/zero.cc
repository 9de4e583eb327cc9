// Judges zero1, zero2 and zero3: the values of unsharded training, in a shard's memory.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

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
using Zero3 = decltype(&zero3);

constexpr double kLossBound = 1e-4;
constexpr std::size_t kUnused = 2;  // in a case of zero1, the parameter that odd ranks do not use

std::vector<std::int64_t> sizes_by_layer(const Case& example) {
  return sharded_layer_sizes(*example.count);
}

std::vector<std::int64_t> size_of_all(const Case& example) {
  const std::vector<std::int64_t> layers = sizes_by_layer(example);
  return {std::accumulate(layers.begin(), layers.end(), std::int64_t{0})};
}

std::optional<Difference> compare_dropped(const Parameter& parameter, const char* which,
                                          const Tensor& tensor) {
  if (tensor.empty()) return std::nullopt;
  return Difference{parameter.name + which,
                    -1,
                    "empty",
                    fmt::format("{} elements", tensor.size()),
                    {"keep-a-shard", "a shard is all that a rank keeps"}};
}

/// After a step, no whole gradient may remain, and no whole value unless `keeps_values`.
std::optional<Difference> compare_dropped(Sequential& model, bool keeps_values) {
  for (const Parameter* parameter : model.parameters()) {
    if (!keeps_values) {
      if (auto wrong = compare_dropped(*parameter, "'s value", parameter->value)) return wrong;
    }
    if (auto wrong = compare_dropped(*parameter, "'s gradient", parameter->gradient)) return wrong;
  }
  return std::nullopt;
}

std::optional<Difference> compare_saved(const Saved& saved) {
  if (saved.empty()) return std::nullopt;
  return Difference{"what forward has saved",
                    -1,
                    "all of it popped by backward",
                    fmt::format("{} bytes left over", saved.bytes()),
                    {"pop-from-saved", "pop it from `saved` itself"}};
}

/// Before the pass of a layer, no other may be whole: no value remains unless `keeps_values`, and
/// before a backward no gradient.
std::optional<Difference> compare_at_pass(Sequential& model, const Layer& active, bool is_backward,
                                          bool keeps_values) {
  for (std::int64_t i = 0; i < model.size(); ++i) {
    if (&model.layer(i) == &active) continue;
    for (const Parameter* parameter : model.layer(i).parameters()) {
      const bool is_value = !keeps_values && !parameter->value.empty();
      if (!is_value && (!is_backward || parameter->gradient.empty())) continue;
      Difference difference = {
          fmt::format("{}'s {} at another layer's {}", parameter->name,
                      is_value ? "value" : "gradient", is_backward ? "backward" : "forward"),
          -1,
          "empty",
          fmt::format("{} bytes", (is_value ? parameter->value : parameter->gradient).bytes()),
          {"one-layer-at-a-time",
           "a layer is whole only while it is at work: drop it before the next one's pass"}};
      difference.kind = FailureKind::kMemory;
      return difference;
    }
  }
  return std::nullopt;
}

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
    return compare_at_pass(training.model, layer, is_backward, /*keeps_values=*/true);
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

std::string in_words(const Loss& loss) {
  return fmt::format("{:.6g} on average, of {} samples, {} of them correct", loss.mean(),
                     loss.counted, loss.correct);
}

std::optional<Difference> run_zero3(Zero3 function, Comm& dist, const Case& example) {
  const ShardBytes bytes = shard_bytes(sizes_by_layer(example), dist.world_size());
  // One layer's weights and gradients, a flat copy, the shards' gradients, and one spare shard.
  const MemoryLimit limit = {3 * bytes.largest + bytes.all_shards + bytes.largest_shard,
                             bytes.all_shards};

  ShardedTraining training(example, dist.rank(), by_layer);
  drop_values(training.model.parameters());
  training.set_at_pass([&](const Layer& layer, bool is_backward) {
    return compare_at_pass(training.model, layer, is_backward, /*keeps_values=*/false);
  });
  bool is_first = true;
  return training.run(
      limit, [&](const Batch& mine, const Watch& watch) -> std::optional<Difference> {
        Saved saved(mine.pass(Mode::kTraining));
        Loss loss;
        watch([&] {
          function(dist, training.model, mine, saved, training.shards, loss, training.optimizer);
        });
        if (auto wrong = compare_saved(saved)) return wrong;
        if (auto wrong = compare_dropped(training.model, /*keeps_values=*/false)) return wrong;
        // The first step's loss is known without training.
        if (!std::exchange(is_first, false)) return std::nullopt;
        Sequential fresh(sharded_model(*example.count));
        Saved pass(mine.pass(Mode::kTraining));
        const Loss expected = cross_entropy(fresh.forward(mine.x, pass), mine.labels);
        if (!loss.gradient.empty()) {
          return Difference{"loss.gradient",
                            -1,
                            "empty",
                            fmt::format("{} elements", loss.gradient.size()),
                            {"loss-without-gradient", "backward takes it: move it from the loss"}};
        }
        if (std::abs(loss.mean() - expected.mean()) <= kLossBound &&
            loss.counted == expected.counted && loss.correct == expected.correct)
          return std::nullopt;
        return Difference{"loss",
                          -1,
                          in_words(expected),
                          in_words(loss),
                          {"loss-of-own-share",
                           "that of this rank's share of the batch, as cross_entropy returns it"}};
      });
}

/// A step reduce-scatters the gradients of each group once, and all-gathers the values.
/// @param gathers how often it all-gathers
Subject subject(std::vector<std::int64_t> (*sizes_in)(const Case& example), int gathers) {
  const auto calls = [=](const Case& example) {
    std::vector<std::int64_t> padded, shards;
    for (const std::int64_t size : sizes_in(example)) {
      shards.push_back(shard_size(size, example.world_size));
      padded.push_back(shards.back() * example.world_size);
    }
    return repeated(steps_in(example),
                    calls_of(CollectiveKind::kReduceScatter, padded) +
                        repeated(gathers, calls_of(CollectiveKind::kAllGather, shards)));
  };
  Subject made = subject_with_calls(cases_of_sharding, calls);
  made.cost_unit = [](const Case& example) {
    const std::int64_t parameters = size_of_all(example).front();
    const std::int64_t bytes = parameters * kElementBytes;
    return CostUnit{"Ψ", static_cast<double>(bytes),
                    fmt::format("Ψ = {} parameters, {} bytes", parameters, bytes)};
  };
  made.limits_memory = true;
  made.large_cases = large_cases_of_sharding();
  made.count_to_show = 64;
  return made;
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
  return make_family<Zero3>(
      "zero3",
      "(Comm& dist, Sequential& model, const Batch& batch, Saved& saved, std::vector<Shard>& "
      "shards, Loss& loss, Optimizer& optimizer)",
      subject(sizes_by_layer, 2), run_zero3);
}

}  // namespace rankbox
