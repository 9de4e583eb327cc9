// Tries to report from a handler of quick_exit.
#include <cstdlib>

#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  std::at_quick_exit(
      [] { (void)!write(attack::kReport, attack::kPass, sizeof(attack::kPass) - 1); });
  std::quick_exit(0);
}

}  // namespace rankbox
