// Tries to draw on the terminal by the message of an exception.
#include <stdexcept>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  throw std::runtime_error(
      "\x1b[2J\x1b]0;mine\a\x9b"
      "31mpass\r\n\u202e");
}

}  // namespace rankbox
