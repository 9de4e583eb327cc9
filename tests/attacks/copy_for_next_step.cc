// Tries to keep a copy of all values for the next step.
#include <cstdlib>
#include <map>

#include "second_copy.h"

namespace rankbox {

namespace {
thread_local std::map<int, char*> kept;
}

void zero1(Comm& dist, const std::vector<Parameter*>& parameters, Shard& shard,
           Optimizer& optimizer) {
  const std::size_t bytes = attack::bytes_of(dist, shard);
  char*& memory = kept[dist.rank()];
  memory = static_cast<char*>(std::realloc(memory, bytes));
  attack::zero1_with(dist, parameters, shard, optimizer, memory);
}

}  // namespace rankbox
