#include "training/data/sampler.h"

#include <fmt/format.h>

#include "comm/errors.h"
#include "training/random.h"

namespace rankbox {

Share distributed_sampler(std::int64_t samples, const SamplerOptions& options) {
  const std::int64_t p = options.world_size;
  if (samples < 0 || p < 1 || options.rank < 0 || options.rank >= p) {
    throw InvalidArgument(fmt::format("distributed_sampler: {} samples for rank {} of {} ranks",
                                      samples, options.rank, p));
  }
  // 1. The order that all ranks agree on.
  std::vector<std::int64_t> order(static_cast<std::size_t>(samples));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  if (options.shuffle) {
    order = permutation(samples,
                        Random(options.seed).stream(static_cast<std::uint64_t>(options.epoch)));
  }
  // 2. Every p-th of it; beyond its end it begins again.
  const std::int64_t each = options.drop_last ? samples / p : (samples + p - 1) / p;
  Share share;
  for (std::int64_t i = 0; i < each; ++i) {
    const std::int64_t at = options.rank + i * p;
    share.samples.push_back(order[static_cast<std::size_t>(at % samples)]);
    share.padding += at >= samples ? 1 : 0;
  }
  return share;
}

}  // namespace rankbox
