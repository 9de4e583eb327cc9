// A function for each of the two roles, and a table of them.
#include "collectives/ping_pong.h"

namespace rankbox {

namespace {

void serve(Comm& dist, Slice ball, int partner) {
  dist.wait(dist.isend(ball, partner));
  dist.wait(dist.irecv(ball, partner));
}

void answer(Comm& dist, Slice ball, int partner) {
  dist.wait(dist.irecv(ball, partner));
  dist.wait(dist.isend(ball, partner));
}

}  // namespace

void ping_pong(Comm& dist, Tensor& tensor, int partner) {
  constexpr decltype(&serve) kRoles[] = {serve, answer};
  if (const int me = dist.rank(); me != partner)
    kRoles[me < partner ? 0 : 1](dist, tensor, partner);
}

}  // namespace rankbox
