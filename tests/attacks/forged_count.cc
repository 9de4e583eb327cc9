// Tries to have the referee read a list that is longer than its message, and than all memory.
#include <cstdint>

#include "frames.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  attack::Content error;
  error.add_text("DeadlockError").add_text("").add(0).add_text("").add(0).add_text("").add(0);
  error.add(~std::size_t{0} / 64);  // waits
  attack::send_frame(attack::kThrew, error);
  attack::send_junk(dist, tensor, src);
}

}  // namespace rankbox
