// Tries to have the referee wait for the rest of a message.
#include <cstdint>

#include <sys/socket.h>
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void to_referee(const void* bytes, std::size_t size) {
  for (int fd = 4; fd < 256; ++fd) (void)!send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  const std::uint32_t head = 11;
  to_referee(&head, 3);
  for (;;) pause();
}

}  // namespace rankbox
