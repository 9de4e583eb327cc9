// dropout_seeds: which ranks drop the same elements, and which must not.
//
// tensor_ranks neighbours hold one copy of the model, a replica: rank = replica · tensor_ranks +
// part. Replicas have different samples. Inside one, some activations are whole on every rank
// (after g, between the blocks), others in parts (heads of attention, columns of an MLP). So a rank
// has two generators for dropout:
//
//   replicated   for what all ranks of a replica have: they must drop the same elements, or their
//                copies differ, and so does all that follows. Other replicas have other samples,
//                and drop independently.
//   sharded      for a rank's own part: no other rank may have this seed. Two heads with one seed
//                would always drop the same places.
//
//   tensor_ranks = 2     rank 0    rank 1    rank 2    rank 3
//   replica, part        0, 0      0, 1      1, 0      1, 1
//   replicated           A         A         B         B
//   sharded              C         D         E         F          six different seeds
//
// Sums do not do it. With seed + replica and seed + 1 + rank, B equals C. And rank 1 of the run
// with seed 1 draws what rank 0 of the run with seed 2 draws: runs that should be independent are
// not. A generator whose streams are independent avoids both: Random(seed).stream(7).at(0)
// (training/random.h).
//
// Ranks send nothing: each computes its seeds, and those of a neighbour would be the same.
//
// Cost: no messages.
// Blocks: never.
// Difficulty 2/5. Importance 4/5.
// Paper: Shoeybi et al., Megatron-LM, 2019, appendix B.2.
#pragma once

#include <cstdint>

#include "comm/errors.h"
#include "training/random.h"

namespace rankbox {

/// The seeds of a rank's two generators.
struct DropoutSeeds {
  std::uint64_t replicated = 0;
  std::uint64_t sharded = 0;
};

/// Fills in both seeds of this rank. They depend on the arguments alone, and `replicated` on seed
/// and replica alone: with more tensor_ranks a model drops the same elements where it is whole.
///
/// All seeds of a run differ, but for those of a replica's copies; and they differ from the seeds
/// of a run with another seed, be it the next one, or one that differs in a single bit.
///
/// @param seed of the run, the same on all ranks; all 64 bits count
/// REQUIRES: rank >= 0; tensor_ranks >= 1.
void dropout_seeds(std::uint64_t seed, int rank, int tensor_ranks, DropoutSeeds& seeds);

}  // namespace rankbox
