// Tries to blame the command line.
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  constexpr char kMistake[] = "mistake nothing to judge\n";
  (void)!write(attack::kReport, kMistake, sizeof(kMistake) - 1);
  _exit(0);
}

}  // namespace rankbox
