// Tries to break the clock of the simulation.
#include <limits>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  using Numbers = std::numeric_limits<double>;
  for (const double seconds : {Numbers::quiet_NaN(), Numbers::infinity(), Numbers::max(), -1.0}) {
    try {
      dist.compute(seconds);
    } catch (const Error&) {
    }
  }
}

}  // namespace rankbox
