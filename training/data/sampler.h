// Which rank gets which samples, as torch.utils.data.DistributedSampler deals them.
//
// All ranks put the samples in the same order, which depends on seed and epoch alone, and rank r
// takes those at r, r + p, r + 2p, … So that all get equally many, the order is first made a
// multiple of p long: with samples from its beginning once more (padding), or by leaving out the last
// ones (drop_last).
//
//   7 samples, 3 ranks:   0 1 2 3 4 5 6 (0 1)      rank 0: 0 3 6    rank 1: 1 4 (0)    rank 2: 2 5 (1)
//   drop_last:            0 1 2 3 4 5              rank 0: 0 3      rank 1: 1 4        rank 2: 2 5
#pragma once

#include <cstdint>
#include <vector>

namespace rankbox {

struct SamplerOptions {
  int rank = 0;
  int world_size = 1;
  bool shuffle = true;
  bool drop_last = false;  // else: pad
  std::uint64_t seed = 1;
  std::int64_t epoch = 0;  // without it, every epoch goes through the same order
};

struct Share {
  std::vector<std::int64_t> samples;
  std::int64_t padding = 0;  // the last so many of them are somebody's already
};

/// The rank's part of samples 0 … samples - 1. No samples: an empty share.
/// Throws InvalidArgument for a rank that is not in the world.
Share distributed_sampler(std::int64_t samples, const SamplerOptions& options);

}  // namespace rankbox
