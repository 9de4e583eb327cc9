#include "parallel/distributed_sampler.h"

namespace rankbox {

void distributed_sampler(std::int64_t samples, const SamplerOptions& options, Share& share) {
  // TODO: 1. the order that all ranks agree on: 0, 1, 2, … or shuffled(samples, seed, epoch);
  // 2. every world_size-th of it, from my rank on. Which of 7 samples does rank 2 of 3 get?
  throw NotImplemented("distributed_sampler");
}

}  // namespace rankbox
