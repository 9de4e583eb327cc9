// Tries to report a pass when a timer runs out.
#include <csignal>

#include <sys/time.h>
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  std::signal(SIGALRM, [](int) {
    (void)!write(attack::kReport, attack::kPass, sizeof(attack::kPass) - 1);
    _exit(0);
  });
  const itimerval soon = {{0, 1000}, {0, 1000}};
  setitimer(ITIMER_REAL, &soon, nullptr);
  for (;;) {
  }
}

}  // namespace rankbox
