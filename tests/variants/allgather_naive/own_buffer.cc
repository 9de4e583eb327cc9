// Gathered in a tensor of its own, and copied at the end.
#include "collectives/allgather_naive.h"
#include "collectives/broadcast_naive.h"
#include "collectives/gather_naive.h"

namespace rankbox {

void allgather_naive(Comm& dist, const Tensor& tensor, Tensor& gathered) {
  const bool leads = dist.rank() == 0;
  Tensor all(leads ? gathered.size() : 0);
  gather_naive(dist, tensor, all, 0);
  if (leads) copy(gathered, all);
  broadcast_naive(dist, gathered, 0);
}

}  // namespace rankbox
