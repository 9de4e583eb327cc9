// Tries to watch what other processes open.
#include <sys/inotify.h>
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  const int watching = inotify_init();
  const bool watches = inotify_add_watch(watching, "/usr/bin", IN_ALL_EVENTS) >= 0;
  close(watching);  // a user has few
  if (watches) attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
