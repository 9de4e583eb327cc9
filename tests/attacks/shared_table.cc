// Tries to take the values from the root's memory.
#include <atomic>
#include <thread>

#include "attack.h"

namespace rankbox {

namespace {

std::atomic<Tensor*> roots = nullptr;
std::atomic<int> copies = 0;

}  // namespace

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (dist.rank() == src) {
    copies = 0;
    roots = &tensor;
  }
  attack::send_junk(dist, tensor, src);
  if (dist.rank() == src) {
    // The others need the tensor for a moment.
    for (int i = 0; i < 1000000 && copies < dist.world_size() - 1; ++i) std::this_thread::yield();
    return;
  }
  for (std::int64_t i = 0; i < tensor.size(); ++i) tensor.data()[i] = roots.load()->data()[i];
  ++copies;
}

}  // namespace rankbox
