// Who serves and who answers is a sorted pair, and a message a function of its two ends.
#include <algorithm>

#include "collectives/ping_pong.h"

namespace rankbox {

void ping_pong(Comm& dist, Tensor& tensor, int partner) {
  const auto [server, client] = std::minmax({dist.rank(), partner});
  if (server == client) return;
  const auto message = [&](int from, int to) {
    if (dist.rank() == from) dist.send(tensor, to);
    if (dist.rank() == to) dist.recv(tensor, from);
  };
  message(server, client);
  message(client, server);
}

}  // namespace rankbox
