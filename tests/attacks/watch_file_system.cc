// Tries to watch what other processes open, by the younger of the kernel's two ways.
#include <sys/syscall.h>
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  constexpr unsigned kReportsNames = 0x200;  // FAN_REPORT_FID, which no privilege is needed for
  const long watching = syscall(SYS_fanotify_init, kReportsNames, 0);
  if (watching < 0) return attack::send_junk(dist, tensor, src);
  close(static_cast<int>(watching));
  attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
