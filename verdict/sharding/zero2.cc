#include "verdict/sharding/zero2.h"

#include <fmt/format.h>

#include "training/cross_entropy.h"
#include "verdict/data_parallel/parameters.h"
#include "verdict/sharding/sharded_training.h"

namespace rankbox {

std::vector<Case> Zero2::cases() const { return cases_of_sharding(); }

std::optional<Difference> Zero2::run(Comm& dist, const Case& example) const {
  const int p = dist.world_size();
  const ShardBytes bytes = shard_bytes(sharded_layer_sizes(*example.count), p);
  // One layer's gradients, flat once more, the shards' gradients, and one of these for those who need it.
  const MemoryLimit limit = {2 * bytes.largest + bytes.all_shards + bytes.largest_shard,
                             bytes.all_shards};

  ShardedTraining training(example, dist.rank(), by_layer);
  std::optional<Difference> too_much;
  for (int step = 0; step < steps_in(example); ++step) {
    const Batch mine = part_of(small_batch(p, step), dist.rank(), p);
    Saved saved(mine.pass(Mode::kTraining));
    Loss loss = cross_entropy(training.model.forward(mine.x, saved), mine.labels);
    const auto one_step = [&] {
      function_(dist, training.model, std::move(loss.gradient), saved, training.shards,
                training.optimizer);
    };
    watch_memory(example, limit, one_step, too_much);
    for (const Parameter* parameter : training.model.parameters()) {
      if (parameter->gradient.empty()) continue;
      return Difference{parameter->name + "'s gradient", -1, "empty",
                        fmt::format("{} elements", parameter->gradient.size()),
                        "a shard is all that a rank keeps"};
    }
  }
  if (auto wrong = compare_sharded(example, dist.rank(), training, by_layer)) return wrong;
  return too_much;
}

Cost Zero2::cost(const Case& example) const {
  return times(steps_in(example), cost_of_step(sharded_layer_sizes(*example.count),
                                               example.world_size, /*gathers=*/1));
}

}  // namespace rankbox
