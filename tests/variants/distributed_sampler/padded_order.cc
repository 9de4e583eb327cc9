// The order is made longer, or shorter, until it can be dealt out evenly.
#include <numeric>

#include "parallel/distributed_sampler.h"

namespace rankbox {

void distributed_sampler(std::int64_t samples, const SamplerOptions& options, Share& share) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(samples));
  std::iota(order.begin(), order.end(), 0);
  if (options.shuffle) order = shuffled(samples, options.seed, options.epoch);

  const auto p = static_cast<std::size_t>(options.world_size);
  const std::size_t all = order.size();
  if (options.drop_last) {
    order.resize(all - all % p);
  } else {
    for (std::size_t i = 0; all > 0 && order.size() % p != 0; ++i) order.push_back(order[i]);
  }

  share.samples.clear();
  share.padding = 0;
  for (auto i = static_cast<std::size_t>(options.rank); i < order.size(); i += p) {
    share.samples.push_back(order[i]);
    if (i >= all) share.padding += 1;
  }
}

}  // namespace rankbox
