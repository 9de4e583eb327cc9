#include "collectives/exchange.h"

namespace rankbox {

void exchange(Comm& dist, const Tensor& mine, Tensor& theirs, int partner) {
  if (partner == dist.rank()) {
    copy(theirs, mine);
    return;
  }

  // TODO: this looks right, and works where sends are buffered. Run it: who waits for whom?
  // Fix it so that it never depends on a buffer. There is more than one way.
  // Which of them takes α + nβ, and which 2(α + nβ)?
  dist.send(mine, partner);
  dist.recv(theirs, partner);
}

}  // namespace rankbox
