// Tries to hang the judge in a fault whose handler returns.
#include <csignal>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  std::signal(SIGSEGV, [](int) {});
  volatile int* const nowhere = nullptr;
  *nowhere = dist.rank();
}

}  // namespace rankbox
