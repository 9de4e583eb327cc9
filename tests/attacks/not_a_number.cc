// Tries to fool comparisons, all of which are false for NaN.
#include <algorithm>
#include <limits>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  attack::send_junk(dist, tensor, src);
  std::fill_n(tensor.data(), tensor.size(), std::numeric_limits<float>::quiet_NaN());
}

}  // namespace rankbox
