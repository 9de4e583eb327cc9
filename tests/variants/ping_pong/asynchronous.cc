// Every message is started, then waited for.
#include "collectives/ping_pong.h"

namespace rankbox {

void ping_pong(Comm& dist, Tensor& tensor, int partner) {
  if (partner == dist.rank()) return;
  const auto serve = [&] { dist.wait(dist.isend(tensor, partner)); };
  const auto receive = [&] { dist.wait(dist.irecv(tensor, partner)); };
  if (dist.rank() > partner) receive();
  serve();
  if (dist.rank() < partner) receive();
}

}  // namespace rankbox
