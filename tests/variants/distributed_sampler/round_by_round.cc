// One round of p places after the other, until the next one is not whole, or has no sample.
#include <numeric>
#include <vector>

#include "parallel/distributed_sampler.h"

namespace rankbox {

void distributed_sampler(std::int64_t samples, const SamplerOptions& options, Share& share) {
  share.samples.clear();
  share.padding = 0;
  std::vector<std::int64_t> order(static_cast<std::size_t>(samples));
  std::iota(order.begin(), order.end(), 0);
  if (options.shuffle) order = shuffled(samples, options.seed, options.epoch);
  std::int64_t at = options.rank;
  const std::int64_t p = options.world_size;
  // The round of a place ends before p (at / p + 1).
  while (samples > 0) {
    const std::int64_t end = at / p * p + p;
    if (options.drop_last ? end > samples : end - p >= samples) return;
    share.samples.push_back(order[static_cast<std::size_t>(at % samples)]);
    share.padding += static_cast<std::int64_t>(at >= samples);
    at += p;
  }
}

}  // namespace rankbox
