// Tries to have the referee free a buffer that a message is still to arrive in: by a second request
// of the same number, by dropping the request, and by waiting for it afterwards.
#include <cstdint>

#include "frames.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  constexpr std::uint32_t kNumber = 1000;
  const auto receive =
      attack::Content().add_call().add(kNumber).add(src).add(DType::kFloat32).add(tensor.size());
  const auto drop = attack::Content().add(kNumber);
  if (dist.rank() != src) {
    attack::send_frame(attack::kIrecv, receive);
    if (dist.rank() % 2 == 0) attack::send_frame(attack::kIrecv, receive);
    attack::send_frame(attack::kDrop, drop);
    attack::send_frame(attack::kDrop, drop);
    attack::send_frame(attack::kWait, attack::Content().add_call().add(kNumber));
  }
  attack::send_junk(dist, tensor, src);
}

}  // namespace rankbox
