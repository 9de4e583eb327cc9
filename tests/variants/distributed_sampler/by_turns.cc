// Deals like cards: one after the other to one rank after the other, and keeps this rank's.
#include <map>

#include "parallel/distributed_sampler.h"

namespace rankbox {

void distributed_sampler(std::int64_t samples, const SamplerOptions& options, Share& share) {
  std::map<int, Share> hands;
  const auto order = shuffled(samples, options.seed, options.epoch);
  int turn = 0;
  const auto deal = [&](std::int64_t at, bool again) {
    Share& hand = hands[turn];
    hand.samples.push_back(options.shuffle ? order[static_cast<std::size_t>(at)] : at);
    hand.padding += again ? 1 : 0;
    turn = (turn + 1) % options.world_size;
  };
  const std::int64_t whole_rounds = samples - samples % options.world_size;
  for (std::int64_t at = 0; at < (options.drop_last ? whole_rounds : samples); ++at)
    deal(at, false);
  for (std::int64_t at = 0; turn != 0; ++at) deal(at % samples, true);
  share = hands[options.rank];
}

}  // namespace rankbox
