// split_without_leak: hold back the same samples for validation on all ranks.
//
// To know how well a model does on what it has not seen, some samples are held back, chosen at
// random. Every rank must choose the same ones. If each uses its own random seed, one rank learns
// from what another holds back: validation data has leaked, and the accuracy looks better than it
// is. Nothing fails, which makes it dangerous.
//
//   10 samples, 3 held back     rank 0 (seed 41)       rank 1 (seed 8)
//   each for itself             hold back 2 5 9        hold back 0 5 7       0, 2, 7, 9 have leaked
//   together                    hold back 2 5 9        hold back 2 5 9
//
// The order is shuffled(samples, seed, 0) with rank 0's seed; its first `held_out` are for
// validation, the others for training, both in that order. (Every rank takes its share of them
// later: distributed_sampler.)
//
// Build on dist.broadcast: of the seed, which is 8 bytes however many samples there are.
//
// Cost: one native broadcast of 8 bytes.
// Blocks: until all ranks have called it.
// Difficulty 1/5. Importance 4/5.
#pragma once

#include <vector>

#include "comm/comm.h"
#include "training/data/sampler.h"

namespace rankbox {

/// Fills in both lists, the same on all ranks. Overwrites them.
///
/// @param seed differs from rank to rank; rank 0's is used. At most 2^63 - 1.
/// REQUIRES: 0 <= held_out <= samples, the same on all ranks.
void split_without_leak(Comm& dist, std::int64_t samples, std::int64_t held_out, std::int64_t seed,
                        std::vector<std::int64_t>& train, std::vector<std::int64_t>& validation);

}  // namespace rankbox
