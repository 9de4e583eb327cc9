#include "collectives/exchange.h"

namespace rankbox {

void exchange(Comm& dist, const Tensor& mine, Tensor& theirs, int partner) {
  if (partner == dist.rank()) {
    copy(theirs, mine);
    return;
  }

  // Neither direction waits for the other: there is no order to get wrong, and both directions of
  // the link are busy at once. (As in ping_pong, the lower rank could send first: safe, but twice
  // as long.)
  dist.sendrecv(mine, partner, theirs, partner);
}

}  // namespace rankbox
