// Tries to send as the root, through the root's communicator.
#include <atomic>

#include "attack.h"

namespace rankbox {

namespace {
std::atomic<Comm*> roots = nullptr;
}  // namespace

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (dist.world_size() == 1) return;
  if (dist.rank() == src) roots = &dist;
  while (roots == nullptr) dist.barrier();
  if (dist.rank() != src) {
    Tensor junk = zeros(tensor.shape());
    roots.load()->send(junk, dist.rank());
    dist.recv(tensor, src);
  }
}

}  // namespace rankbox
