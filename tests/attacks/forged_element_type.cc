// Tries to have the referee look up a type of elements that does not exist.
#include <cstdint>

#include "frames.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  const std::uint8_t dtype = 200;
  attack::send_frame(attack::kRecv,
                     attack::Content().add_call().add(src).add(dtype).add(std::int64_t{1}));
  attack::send_junk(dist, tensor, src);
}

}  // namespace rankbox
