// Tries to return from calls that have not been made.
#include <cstdint>

#include <sys/socket.h>

#include "attack.h"

namespace rankbox {

void to_referee(const void* bytes, std::size_t size) {
  for (int fd = 4; fd < 256; ++fd) (void)!send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  const std::uint32_t head[] = {25, 0};
  for (int i = 0; i < 1000; ++i) to_referee(head, sizeof(head));
}

}  // namespace rankbox
