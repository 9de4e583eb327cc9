// Tries to break the report with bytes that are no text, in the message of an exception.
#include <stdexcept>
#include <string>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  throw std::runtime_error("\xf4\x90\x80\x80\xed\xa0\x80\xc0\xaf\"}]" + bytes);
}

}  // namespace rankbox
