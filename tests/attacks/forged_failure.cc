// Tries to crash the referee with a failure of a rank, at a place that does not exist.
#include <cstdint>
#include <limits>
#include <string>

#include "frames.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  constexpr int kFar = std::numeric_limits<int>::max();
  const std::string file = "\x1b[2J\xff../../../etc/passwd";
  attack::Content error;
  error.add_text("DeadlockError").add_text("all wait\xff").add(kFar).add_text("recv");
  error.add(-kFar).add_text(file).add(-1);
  error.add(std::size_t{1});  // waits
  error.add(-kFar).add_text("send").add(std::size_t{2}).add(kFar).add(-7);
  error.add(std::int64_t{-1}).add_text(file).add(kFar);
  error.add(std::size_t{3}).add(kFar).add(-1).add(kFar);  // the cycle
  attack::send_frame(attack::kThrew, error);
  attack::send_junk(dist, tensor, src);
}

}  // namespace rankbox
