// Tries to report from an exit handler.
#include <cstdlib>

#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  std::atexit([] {
    (void)!write(attack::kReport, attack::kPass, sizeof(attack::kPass) - 1);
    _exit(0);
  });
  std::exit(0);
}

}  // namespace rankbox
