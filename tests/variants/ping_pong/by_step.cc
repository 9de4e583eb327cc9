// Two steps in a loop: who serves sends in the first, who answers in the second.
#include "collectives/ping_pong.h"

namespace rankbox {

void ping_pong(Comm& dist, Tensor& tensor, int partner) {
  if (partner == dist.rank()) return;
  const bool serves = dist.rank() < partner;
  for (const bool there : {true, false}) {
    if (serves == there) {
      dist.send(tensor, partner);
    } else {
      dist.recv(tensor, partner);
    }
  }
}

}  // namespace rankbox
