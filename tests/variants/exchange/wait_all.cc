// Both are started, then both are waited for.
#include <vector>

#include "collectives/exchange.h"

namespace rankbox {

void exchange(Comm& dist, const Tensor& mine, Tensor& theirs, int partner) {
  if (partner == dist.rank()) {
    theirs = mine;
    return;
  }
  std::vector<Request> requests;
  requests.push_back(dist.isend(mine, partner));
  requests.push_back(dist.irecv(theirs, partner));
  dist.wait_all(requests);
}

}  // namespace rankbox
