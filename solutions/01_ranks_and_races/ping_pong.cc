#include "collectives/ping_pong.h"

namespace rankbox {

void ping_pong(Comm& dist, Tensor& tensor, int partner) {
  if (partner == dist.rank()) return;

  // A send waits for its receive, so the two of us must do opposite things. Both know both ranks:
  // comparing them decides which sends first, without a message.
  if (dist.rank() < partner) {
    dist.send(tensor, partner);
    dist.recv(tensor, partner);
  } else {
    dist.recv(tensor, partner);
    dist.send(tensor, partner);
  }
}

}  // namespace rankbox
