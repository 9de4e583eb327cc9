// Tries to have the referee make room for fewer than no elements, and for more than all memory.
#include <cstdint>
#include <limits>

#include "frames.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  using Numbers = std::numeric_limits<std::int64_t>;
  std::uint32_t number = 1000;
  // Each rank tries another one: the first that is refused ends it.
  const std::int64_t sizes[] = {-1, Numbers::min(), Numbers::max(), Numbers::max() / 4 + 1};
  const std::int64_t size = sizes[dist.rank() % 4];
  attack::send_frame(
      attack::kIrecv,
      attack::Content().add_call().add(++number).add(src).add(DType::kFloat32).add(size));
  attack::send_junk(dist, tensor, src);
}

}  // namespace rankbox
