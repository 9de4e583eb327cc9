#include "collectives/ping_pong.h"

namespace rankbox {

void ping_pong(Comm& dist, Tensor& tensor, int partner) {
  // TODO: send the tensor to your partner and receive it back, or the other way round.
  // Both of you run this same code. If both send, both wait for a receive: who goes first?
  // You know your own rank and your partner's, and so does your partner.
  throw NotImplemented("ping_pong");
}

}  // namespace rankbox
