// Tries to replace the judge's _exit.
#include "attack.h"

extern "C" [[noreturn]] void _exit(int) {
  while (true) {
  }
}

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {}

}  // namespace rankbox
