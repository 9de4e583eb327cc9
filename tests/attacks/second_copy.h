// What the attacks on the judge of memory share: a right zero1 that holds a second flat copy of all
// gradients, in memory that each of them gets in another way.
#pragma once

#include "attack.h"
#include "parallel/zero1.h"

namespace rankbox::attack {

/// @param memory of as many bytes as the model has, for the whole call
inline void zero1_with(Comm& dist, const std::vector<Parameter*>& parameters, Shard& shard,
                       Optimizer& optimizer, char* memory) {
  Tensor flat = flat_for(shard, dist.world_size());
  const auto bytes = static_cast<std::size_t>(flat.bytes());
  pack_gradients(parameters, shard, flat);
  std::memcpy(memory, flat.data(), bytes);
  dist.reduce_scatter(flat, gradient_of(shard.mine), ReduceOp::AVG);
  optimizer.step();
  std::memcpy(flat.data(), memory, bytes);  // as if it were needed
  dist.all_gather(shard.mine.value, flat);
  unpack_values(flat, shard, parameters);
}

inline std::size_t bytes_of(Comm& dist, const Shard& shard) {
  return static_cast<std::size_t>(shard.mine.value.bytes() * dist.world_size());
}

}  // namespace rankbox::attack
