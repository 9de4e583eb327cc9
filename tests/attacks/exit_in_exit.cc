// Tries to never end the exit of its process.
#include <cstdlib>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  std::atexit([] {
    for (volatile int i = 0;; i = i + 1) {
    }
  });
  std::exit(0);
}

}  // namespace rankbox
