// Tries to report a broken verdict, as an error of the judge.
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  constexpr char kBroken[] = "verdict {\n";
  (void)!write(attack::kReport, kBroken, sizeof(kBroken) - 1);
  _exit(0);
}

}  // namespace rankbox
