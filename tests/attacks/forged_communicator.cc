// Tries to use a communicator that the referee has not made.
#include <cstdint>

#include "frames.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  const std::uint32_t numbers[] = {1, 0x7fffffff, 0xffffffff};
  attack::send_frame(attack::kRecv, attack::Content()
                                        .add_call(numbers[dist.rank() % 3])
                                        .add(src)
                                        .add(DType::kFloat32)
                                        .add(std::int64_t{1}));
  attack::send_junk(dist, tensor, src);
}

}  // namespace rankbox
