// Tries to go on after its time, whatever the signal.
#include <csignal>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  for (int signal = 1; signal < 65; ++signal) std::signal(signal, SIG_IGN);
  while (true) {
  }
}

}  // namespace rankbox
