// Tries to hold a second copy that another thread allocated.
#include <thread>

#include "second_copy.h"

namespace rankbox {

void zero1(Comm& dist, const std::vector<Parameter*>& parameters, Shard& shard,
           Optimizer& optimizer) {
  const std::size_t bytes = attack::bytes_of(dist, shard);
  std::vector<char> memory;
  std::thread([&] { memory.resize(bytes); }).join();
  attack::zero1_with(dist, parameters, shard, optimizer, memory.data());
}

}  // namespace rankbox
