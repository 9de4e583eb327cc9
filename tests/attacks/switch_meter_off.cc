// Tries to switch the judge's count of memory off.
#include "attack.h"

namespace rankbox {

struct MemoryMeter;
MemoryMeter*& current_memory_meter();

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  current_memory_meter() = nullptr;
  attack::send_junk(dist, tensor, src);
}

}  // namespace rankbox
