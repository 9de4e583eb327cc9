// Tries to hold a second copy in variables, one for each rank.

#include "second_copy.h"

namespace rankbox {

void zero1(Comm& dist, const std::vector<Parameter*>& parameters, Shard& shard,
           Optimizer& optimizer) {
  const std::size_t bytes = attack::bytes_of(dist, shard);
  static char memory[64][4 << 20];
  if (bytes > sizeof(memory[0])) return;
  attack::zero1_with(dist, parameters, shard, optimizer, memory[dist.rank()]);
}

}  // namespace rankbox
