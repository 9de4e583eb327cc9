#include "verdict/sharding/zero3.h"

#include <cmath>

#include <fmt/format.h>

#include "verdict/data_parallel/parameters.h"
#include "verdict/sharding/sharded_training.h"

namespace rankbox {

namespace {

constexpr double kLossBound = 1e-4;

std::optional<Difference> compare_dropped(Sequential& model) {
  for (const Parameter* parameter : model.parameters()) {
    for (const Tensor* tensor : {&parameter->value, &parameter->gradient}) {
      if (tensor->empty()) continue;
      const char* const which = tensor == &parameter->value ? "'s value" : "'s gradient";
      return Difference{parameter->name + which, -1, "empty",
                        fmt::format("{} elements", tensor->size()),
                        "a shard is all that a rank keeps"};
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<Case> Zero3::cases() const { return cases_of_sharding(); }

std::optional<Difference> Zero3::run(Comm& dist, const Case& example) const {
  const int p = dist.world_size();
  const ShardBytes bytes = shard_bytes(sharded_layer_sizes(*example.count), p);
  // One layer's weights and gradients, flat once more, the shards' gradients, and one of these for
  // those who need it.
  const MemoryLimit limit = {3 * bytes.largest + bytes.all_shards + bytes.largest_shard,
                             bytes.all_shards};

  ShardedTraining training(example, dist.rank(), by_layer);
  drop_values(training.model.parameters());

  std::optional<Difference> too_much;
  for (int step = 0; step < steps_in(example); ++step) {
    const Batch mine = part_of(small_batch(p, step), dist.rank(), p);
    Saved saved(mine.pass(Mode::kTraining));
    Loss loss;
    const auto one_step = [&] {
      function_(dist, training.model, mine, saved, training.shards, loss, training.optimizer);
    };
    watch_memory(example, limit, one_step, too_much);
    if (auto wrong = compare_dropped(training.model)) return wrong;
    if (step > 0) continue;
    // The first one's can be told without training.
    Sequential fresh(sharded_model(*example.count));
    const double expected = add_gradients(fresh, mine);
    if (std::abs(loss.mean() - expected) <= kLossBound && loss.counted == mine.size()) continue;
    return Difference{"loss", -1,
                      fmt::format("{:.6g} on average, of {} samples", expected, mine.size()),
                      fmt::format("{:.6g} on average, of {} samples", loss.mean(), loss.counted),
                      "that of this rank's share, as cross_entropy tells it"};
  }
  if (auto wrong = compare_sharded(example, dist.rank(), training, by_layer)) return wrong;
  return too_much;
}

Cost Zero3::cost(const Case& example) const {
  return times(steps_in(example), cost_of_step(sharded_layer_sizes(*example.count),
                                               example.world_size, /*gathers=*/2));
}

}  // namespace rankbox
