// Tries to take the values from the root's memory.
#include <atomic>

#include "attack.h"

namespace rankbox {

namespace {

std::atomic<Tensor*> roots = nullptr;

}  // namespace

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  // All ranks meet before and after in the messages of a right broadcast.
  if (dist.rank() == src) roots = &tensor;
  attack::send_junk(dist, tensor, src);
  if (dist.rank() != src) {
    for (std::int64_t i = 0; i < tensor.size(); ++i) tensor.data()[i] = (*roots.load()).data()[i];
  }
}

}  // namespace rankbox
