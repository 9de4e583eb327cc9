#include "training/data/sampler.h"

#include <numeric>

#include <fmt/format.h>

#include "comm/errors.h"
#include "training/random.h"

namespace rankbox {

std::vector<std::int64_t> shuffled(std::int64_t samples, std::uint64_t seed, std::int64_t epoch) {
  return permutation(samples, Random(seed).stream(static_cast<std::uint64_t>(epoch)));
}

void whole_epoch(std::int64_t samples, const SamplerOptions& options, Share& share) {
  if (options.world_size != 1 || options.rank != 0) {
    throw InvalidArgument(
        fmt::format("rank {} of a world of {} needs a sampler that deals: distributed_sampler",
                    options.rank, options.world_size));
  }
  share.padding = 0;
  share.samples.resize(static_cast<std::size_t>(samples));
  std::iota(share.samples.begin(), share.samples.end(), std::int64_t{0});
  if (options.shuffle) share.samples = shuffled(samples, options.seed, options.epoch);
}

}  // namespace rankbox
