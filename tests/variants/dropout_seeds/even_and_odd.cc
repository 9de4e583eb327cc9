// Even numbers of one stream for replicas, odd ones for ranks.
#include "parallel/dropout_seeds.h"

namespace rankbox {

void dropout_seeds(std::uint64_t seed, int rank, int tensor_ranks, DropoutSeeds& seeds) {
  Random random(seed);
  int first_of_replica = 0, replica = 0;
  for (; first_of_replica + tensor_ranks <= rank; first_of_replica += tensor_ranks) ++replica;
  for (int number = 0; number <= 2 * rank + 1; ++number) {
    const std::uint64_t drawn = random.next();
    if (number == 2 * replica) seeds.replicated = drawn;
    if (number == 2 * rank + 1) seeds.sharded = drawn;
  }
}

}  // namespace rankbox
