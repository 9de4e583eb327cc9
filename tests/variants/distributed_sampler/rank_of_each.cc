// Each place of the order belongs to the rank that is its remainder.
#include <ranges>
#include <vector>

#include "parallel/distributed_sampler.h"

namespace rankbox {

void distributed_sampler(std::int64_t samples, const SamplerOptions& options, Share& share) {
  share = Share();
  if (samples < 1) return;
  const std::int64_t p = options.world_size;
  const std::int64_t rounds = options.drop_last ? samples / p : (samples - 1) / p + 1;
  std::vector<std::int64_t> order;
  if (options.shuffle) order = shuffled(samples, options.seed, options.epoch);
  const auto is_mine = [&](std::int64_t at) { return at % p == options.rank; };
  for (const std::int64_t at :
       std::views::iota(std::int64_t{0}, rounds * p) | std::views::filter(is_mine)) {
    const std::int64_t place = at % samples;
    share.samples.push_back(order.empty() ? place : order[static_cast<std::size_t>(place)]);
    if (at != place) share.padding += 1;
  }
}

}  // namespace rankbox
