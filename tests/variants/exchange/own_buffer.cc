// Received into a tensor of its own, which then becomes theirs.
#include <utility>

#include "collectives/exchange.h"

namespace rankbox {

void exchange(Comm& dist, const Tensor& mine, Tensor& theirs, int partner) {
  if (partner == dist.rank()) {
    copy(theirs, mine);
    return;
  }
  Tensor received(mine.shape());
  dist.sendrecv(mine, partner, received, partner);
  theirs = std::move(received);
}

}  // namespace rankbox
