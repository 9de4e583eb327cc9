// Tries never to be loaded.
#include <unistd.h>

#include "attack.h"

namespace rankbox {

namespace {

__attribute__((constructor)) void wait() {
  while (true) pause();
}

}  // namespace

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {}

}  // namespace rankbox
