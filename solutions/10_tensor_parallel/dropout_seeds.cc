#include "parallel/dropout_seeds.h"

namespace rankbox {

void dropout_seeds(std::uint64_t seed, int rank, int tensor_ranks, DropoutSeeds& seeds) {
  const auto replica = static_cast<std::uint64_t>(rank / tensor_ranks);
  const auto part = static_cast<std::uint64_t>(rank % tensor_ranks);
  const Random of_replica = Random(seed).stream(replica);
  seeds.replicated = of_replica.at(0);
  seeds.sharded = of_replica.at(1 + part);
}

}  // namespace rankbox
