// Tries to pass off its end as one that the judge had planned.
#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  attack::send_junk(dist, tensor, src);
  throw InjectedCrash("as planned");
}

}  // namespace rankbox
