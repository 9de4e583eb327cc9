// Samplers: which rank gets which samples.
//
// All ranks put the samples in the same order, which depends only on seed and epoch, and every rank
// takes its share of it. For several ranks, see parallel/distributed_sampler.h.
#pragma once

#include <cstdint>
#include <functional>
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
  std::int64_t padding = 0;  // the last `padding` samples are repeated
};

/// Fills in the share of options.rank, of samples 0 … samples - 1.
using Sampler =
    std::function<void(std::int64_t samples, const SamplerOptions& options, Share& share)>;

/// 0 … samples - 1 in a random order, which depends only on the two numbers: the same on all ranks.
std::vector<std::int64_t> shuffled(std::int64_t samples, std::uint64_t seed, std::int64_t epoch);

/// The sampler of a world of one rank, which gets everything. Throws InvalidArgument in a larger
/// world.
void whole_epoch(std::int64_t samples, const SamplerOptions& options, Share& share);

}  // namespace rankbox
