// Judged as exchange: both partners send first. Works where sends are buffered, else hangs.
#include "collectives/exchange.h"

namespace rankbox {

void exchange(Comm& dist, const Tensor& mine, Tensor& theirs, int partner) {
  if (partner == dist.rank()) {
    copy(theirs, mine);
    return;
  }
  dist.send(mine, partner);  // HERE
  dist.recv(theirs, partner);
}

}  // namespace rankbox
