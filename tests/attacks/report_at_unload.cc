// Tries to report from a destructor.
#include <unistd.h>

#include "attack.h"

namespace rankbox {

namespace {

__attribute__((destructor)) void report() {
  (void)!write(attack::kReport, attack::kPass, sizeof(attack::kPass) - 1);
  _exit(0);
}

}  // namespace

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {}

}  // namespace rankbox
