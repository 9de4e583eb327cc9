#include "parallel/dropout_seeds.h"

namespace rankbox {

void dropout_seeds(std::uint64_t seed, int rank, int tensor_ranks, DropoutSeeds& seeds) {
  // TODO: which replica is this rank in, and which part of it does it hold? On which of the two
  // does each seed depend? Random(seed).stream(number).at(number) is a seed.
  throw NotImplemented("dropout_seeds");
}

}  // namespace rankbox
