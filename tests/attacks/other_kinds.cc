// Tries to confuse the referee with messages of every kind, known or not.
#include <cstdint>

#include <sys/socket.h>

#include "attack.h"

namespace rankbox {

void to_referee(const void* bytes, std::size_t size) {
  for (int fd = 4; fd < 256; ++fd) (void)!send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  for (std::uint32_t kind = 0; kind < 64; ++kind) {
    for (const std::uint32_t bytes : {0U, 4U, 32U}) {
      const std::uint32_t frame[10] = {kind, bytes, ~0U};
      to_referee(frame, 8 + bytes);
    }
  }
}

}  // namespace rankbox
