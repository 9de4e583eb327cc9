// Tries to hold a second copy in pages that cannot be written, which count as no data.
#include <sys/mman.h>

#include "second_copy.h"

namespace rankbox {

void zero1(Comm& dist, const std::vector<Parameter*>& parameters, Shard& shard,
           Optimizer& optimizer) {
  const std::size_t bytes = attack::bytes_of(dist, shard);
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  Tensor flat = flat_for(shard, dist.world_size());
  pack_gradients(parameters, shard, flat);
  std::memcpy(memory, flat.data(), bytes);
  mprotect(memory, bytes, PROT_READ);
  dist.reduce_scatter(flat, gradient_of(shard.mine), ReduceOp::AVG);
  optimizer.step();
  std::memcpy(flat.data(), memory, bytes);
  dist.all_gather(shard.mine.value, flat);
  unpack_values(flat, shard, parameters);
  munmap(memory, bytes);
}

}  // namespace rankbox
