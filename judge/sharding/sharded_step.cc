#include "judge/sharding/sharded_step.h"

#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "training/cross_entropy.h"

namespace rankbox {

namespace {

constexpr double kLossBound = 1e-4;

std::optional<Difference> compare_dropped(const Parameter& parameter, const char* which,
                                          const Tensor& tensor) {
  if (tensor.empty()) return std::nullopt;
  return Difference{parameter.name + which,
                    -1,
                    "empty",
                    fmt::format("{} elements", tensor.size()),
                    {"keep-a-shard", "a shard is all that a rank keeps"}};
}

/// Returns the layer with weights whose pass is next.
const Layer* next_of(Sequential& model, const Layer& active, bool is_backward) {
  const Layer* before = nullptr;
  bool is_past = false;
  for (std::int64_t i = 0; i < model.size(); ++i) {
    Layer& layer = model.layer(i);
    if (&layer == &active) {
      if (is_backward) return before;
      is_past = true;
    } else if (!layer.parameters().empty()) {
      if (is_past) return &layer;
      before = &layer;
    }
  }
  return nullptr;
}

Difference at_pass(const Parameter& parameter, bool is_value, bool is_backward, const Hint& hint) {
  Difference difference = {
      fmt::format("{}'s {} at another layer's {}", parameter.name, is_value ? "value" : "gradient",
                  is_backward ? "backward" : "forward"),
      -1, "empty",
      fmt::format("{} bytes", (is_value ? parameter.value : parameter.gradient).bytes()), hint};
  difference.kind = FailureKind::kMemory;
  return difference;
}

std::string in_words(const Loss& loss) {
  return fmt::format("{:.6g} on average, of {} samples, {} of them correct", loss.mean(),
                     loss.counted, loss.correct);
}

/// Compares the loss of a first step, which is known without training.
std::optional<Difference> compare_loss(const Loss& loss, const Batch& mine, const Case& example) {
  if (!loss.gradient.empty()) {
    return Difference{"loss.gradient",
                      -1,
                      "empty",
                      fmt::format("{} elements", loss.gradient.size()),
                      {"loss-without-gradient", "backward takes it: move it from the loss"}};
  }
  Sequential fresh(sharded_model(*example.count));
  Saved pass(mine.pass(Mode::kTraining));
  const Loss expected = cross_entropy(fresh.forward(mine.x, pass), mine.labels);
  if (std::abs(loss.mean() - expected.mean()) <= kLossBound && loss.counted == expected.counted &&
      loss.correct == expected.correct) {
    return std::nullopt;
  }
  return Difference{
      "loss",
      -1,
      in_words(expected),
      in_words(loss),
      {"loss-of-own-share", "that of this rank's share of the batch, as cross_entropy returns it"}};
}

}  // namespace

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

std::optional<Difference> compare_at_pass(Sequential& model, const Layer& active, bool is_backward,
                                          Whole others) {
  const Hint hint =
      others == Whole::kNext
          ? Hint("two-layers-at-a-time",
                 "only the layer of the next pass may be whole, too: gather no other yet, and drop "
                 "what the last pass needed")
          : Hint("one-layer-at-a-time",
                 "a layer is whole only while it is at work: drop it before the next one's pass");
  const Layer* const next = others == Whole::kNext ? next_of(model, active, is_backward) : nullptr;
  for (std::int64_t i = 0; i < model.size(); ++i) {
    Layer& layer = model.layer(i);
    if (&layer == &active) continue;
    const bool may_be_whole = others == Whole::kAll || &layer == next;
    for (const Parameter* parameter : layer.parameters()) {
      const bool is_value = !may_be_whole && !parameter->value.empty();
      if (is_value || (is_backward && !parameter->gradient.empty()))
        return at_pass(*parameter, is_value, is_backward, hint);
    }
  }
  return std::nullopt;
}

std::optional<Difference> run_whole_step(WholeStep function, Comm& dist, ShardedTraining& training,
                                         const MemoryLimit& limit, Whole others) {
  drop_values(training.model.parameters());
  training.set_at_pass([&training, others](const Layer& layer, bool is_backward) {
    return compare_at_pass(training.model, layer, is_backward, others);
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
        if (!std::exchange(is_first, false)) return std::nullopt;
        return compare_loss(loss, mine, training.example());
      });
}

ShardedCalls sharded_calls(const std::vector<std::int64_t>& sizes, int world_size) {
  std::vector<std::int64_t> padded, shards;
  for (const std::int64_t size : sizes) {
    shards.push_back(shard_size(size, world_size));
    padded.push_back(shards.back() * world_size);
  }
  return {calls_of(CollectiveKind::kReduceScatter, padded),
          calls_of(CollectiveKind::kAllGather, shards)};
}

std::int64_t elements_of_all(const Case& example) {
  const std::vector<std::int64_t> layers = sharded_layer_sizes(*example.count);
  return std::accumulate(layers.begin(), layers.end(), std::int64_t{0});
}

Subject subject_of_sharding(const std::function<NativeCalls(const Case& example)>& calls,
                            std::vector<RunCheck> checks) {
  Subject subject = subject_with_calls(cases_of_sharding, calls, std::move(checks));
  subject.cost_unit = [](const Case& example) {
    const std::int64_t parameters = elements_of_all(example);
    const std::int64_t bytes = parameters * kElementBytes;
    return CostUnit{"Ψ", static_cast<double>(bytes),
                    fmt::format("Ψ = {} parameters, {} bytes", parameters, bytes)};
  };
  subject.limits_memory = true;
  subject.large_cases = large_cases_of_sharding();
  subject.count_to_show = 64;
  return subject;
}

}  // namespace rankbox
