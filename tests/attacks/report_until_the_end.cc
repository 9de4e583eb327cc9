// Tries to report after the judge, from a thread.
#include <thread>

#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  std::thread([] {
    while (true) (void)!write(attack::kReport, attack::kPass, sizeof(attack::kPass) - 1);
  }).detach();
}

}  // namespace rankbox
