// Tries to have the referee run a collective that does not exist, with a reduction beyond the last.
#include <cstdint>

#include "frames.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  const std::uint8_t kinds[] = {9, 10, 100, 255};  // the first is a split: another request
  attack::Content content;
  content.add_call().add(kinds[dist.rank() % 4]).add(src).add(std::uint8_t{100});
  content.add(std::uint8_t{2}).add(std::uint8_t{0}).add(std::uint8_t{0});
  attack::send_frame(attack::kCollective, content);
  attack::send_junk(dist, tensor, src);
}

}  // namespace rankbox
