// Tries to report from a terminate handler.
#include <exception>
#include <thread>

#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  std::set_terminate([] {
    (void)!write(attack::kReport, attack::kPass, sizeof(attack::kPass) - 1);
    _exit(0);
  });
  std::thread([] { throw 1; }).join();
}

}  // namespace rankbox
