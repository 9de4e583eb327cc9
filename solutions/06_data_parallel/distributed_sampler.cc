#include "parallel/distributed_sampler.h"

#include <numeric>

namespace rankbox {

void distributed_sampler(std::int64_t samples, const SamplerOptions& options, Share& share) {
  share = {};
  if (samples == 0) return;
  // 1. The order that all ranks agree on.
  std::vector<std::int64_t> order(static_cast<std::size_t>(samples));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  if (options.shuffle) order = shuffled(samples, options.seed, options.epoch);

  // 2. Every p-th of it; beyond its end it starts again.
  const std::int64_t p = options.world_size;
  const std::int64_t each = options.drop_last ? samples / p : (samples + p - 1) / p;
  for (std::int64_t i = 0; i < each; ++i) {
    const std::int64_t at = options.rank + i * p;
    share.samples.push_back(order[static_cast<std::size_t>(at % samples)]);
    if (at >= samples) ++share.padding;
  }
}

}  // namespace rankbox
