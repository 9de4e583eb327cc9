// Tries to break the report with output that is no text, up to half a character at its end.
#include <cstdio>
#include <string>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  for (int i = 0; i < 400; ++i) std::fwrite(bytes.data(), 1, bytes.size(), stdout);
  std::fputs("\xf0\x9f", stdout);
}

}  // namespace rankbox
