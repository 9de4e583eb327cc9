#include "verdict/sharding/zero1.h"

#include <numeric>

#include "verdict/data_parallel/parameters.h"
#include "verdict/sharding/sharded_training.h"

namespace rankbox {

namespace {

/// All parameters together.
std::vector<std::int64_t> sizes_in(const Case& example) {
  const std::vector<std::int64_t> layers = sharded_layer_sizes(*example.count);
  return {std::accumulate(layers.begin(), layers.end(), std::int64_t{0})};
}

}  // namespace

std::vector<Case> Zero1::cases() const { return cases_of_sharding(); }

std::optional<Difference> Zero1::run(Comm& dist, const Case& example) const {
  const int p = dist.world_size();
  const ShardBytes bytes = shard_bytes(sizes_in(example), p);
  // A flat tensor, the shard's gradient, and once more as much for those who need it.
  const MemoryLimit limit = {bytes.largest + 2 * bytes.largest_shard, bytes.largest_shard};

  ShardedTraining training(example, dist.rank(), all_in_one);
  std::optional<Difference> too_much;
  for (int step = 0; step < steps_in(example); ++step) {
    zero_gradients(training.model.parameters());
    add_gradients(training.model, part_of(small_batch(p, step), dist.rank(), p));
    const auto one_step = [&] {
      function_(dist, training.model.parameters(), training.shards.front(), training.optimizer);
    };
    watch_memory(example, limit, one_step, too_much);
  }
  if (auto wrong = compare_sharded(example, dist.rank(), training, all_in_one)) return wrong;
  return too_much;
}

Cost Zero1::cost(const Case& example) const {
  return times(steps_in(example),
               cost_of_step(sizes_in(example), example.world_size, /*gathers=*/1));
}

}  // namespace rankbox
