// Tries to report when its time is up.
#include <csignal>

#include <unistd.h>

#include "attack.h"

namespace rankbox {

namespace {

void report(int) {
  (void)!write(attack::kReport, attack::kPass, sizeof(attack::kPass) - 1);
  _exit(0);
}

}  // namespace

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  std::signal(SIGUSR1, report);
  while (true) pause();
}

}  // namespace rankbox
