// Tries to leave shared memory behind.
#include <fcntl.h>
#include <sys/mman.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  if (shm_open("/rankbox-attack", O_CREAT | O_RDWR, 0600) >= 0) attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
