// Tries to draw a pass on the terminal.
#include <cstdio>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  std::fputs("\x1b[2J\x1b[H\u2713 broadcast_naive: pass\n\x1b[8m", stdout);
}

}  // namespace rankbox
