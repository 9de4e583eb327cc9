// Tries to have the referee hold a second copy: a message to itself, under way.
#include <cstdint>
#include <cstdlib>

#include <sys/mman.h>

#include "second_copy.h"

namespace rankbox {

void zero1(Comm& dist, const std::vector<Parameter*>& parameters, Shard& shard,
           Optimizer& optimizer) {
  const std::size_t bytes = attack::bytes_of(dist, shard);
  if (bytes < (1 << 20)) {
    void* const memory = std::malloc(bytes);
    attack::zero1_with(dist, parameters, shard, optimizer, static_cast<char*>(memory));
    std::free(memory);
    return;
  }
  Tensor flat = flat_for(shard, dist.world_size());
  pack_gradients(parameters, shard, flat);
  // Where nothing else will be while it is unmapped.
  void* const memory = reinterpret_cast<void*>(std::uintptr_t{1} << 40);
  void* const returned = reinterpret_cast<void*>(std::uintptr_t{2} << 40);
  const auto map = [&](void* at) {
    mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  };
  map(memory);
  std::memcpy(memory, flat.data(), bytes);
  const Slice copy(memory, flat.size(), DType::kFloat32, false, Slice(flat).owner());
  flat = Tensor();
  Request to_itself = dist.isend(copy, dist.rank());
  munmap(memory, bytes);

  flat = flat_for(shard, dist.world_size());
  pack_gradients(parameters, shard, flat);
  dist.reduce_scatter(flat, gradient_of(shard.mine), ReduceOp::AVG);
  optimizer.step();

  dist.all_gather(shard.mine.value, flat);
  unpack_values(flat, shard, parameters);
  flat = Tensor();
  map(returned);
  const Slice copy_returned(returned, copy.size(), DType::kFloat32, false, copy.owner());
  dist.wait(dist.irecv(copy_returned, dist.rank()));
  // What the other one sends must be there, and unchanged.
  mremap(returned, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, memory);
  dist.wait(to_itself);
  munmap(memory, bytes);
}

}  // namespace rankbox
