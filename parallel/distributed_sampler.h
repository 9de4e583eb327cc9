// distributed_sampler: which rank learns from which samples, as in torch's DistributedSampler.
//
// All ranks put the samples in the same order, which depends only on seed and epoch, and rank r
// takes those at r, r + p, r + 2p, … All ranks must get equally many, since each must take part in
// every all-reduce. So the length of the order is first made a multiple of p: by repeating samples
// from its beginning (padding; repeatedly where there are fewer samples than ranks), or by leaving
// out the last ones (drop_last).
//
//   7 samples, 3 ranks      rank 0      rank 1      rank 2
//   padded                  0 3 6       1 4 (0)     2 5 (1)       in brackets: padding
//   drop_last               0 3         1 4         2 5           6 is left out
//
// The order: 0, 1, 2, … or, with options.shuffle, shuffled(samples, seed, epoch), which every rank
// computes for itself. No rank sends anything, so the order must depend on nothing else.
//
// In this order, the batches of p ranks together are the batch that one rank would have taken: step
// by step, p ranks see what one would see.
//
// Cost: no messages; O(samples) time and memory on every rank.
// Blocks: never.
// Difficulty 1/5. Importance 5/5.
#pragma once

#include "comm/errors.h"
#include "training/data/sampler.h"

namespace rankbox {

/// Fills in the share of options.rank: its samples, in the order in which it takes them, and how
/// many of them, at the end, are padding. Overwrites `share`. With 0 samples the share is empty.
///
/// REQUIRES: samples >= 0, 0 <= options.rank < options.world_size.
void distributed_sampler(std::int64_t samples, const SamplerOptions& options, Share& share);

}  // namespace rankbox
