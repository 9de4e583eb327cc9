#include "collectives/allgather_bruck.h"

namespace rankbox {

void allgather_bruck(Comm& dist, const Tensor& tensor, Tensor& gathered) {
  // TODO: keep a row of blocks that starts with your own, and double it in every round.
  // Who holds exactly the blocks that follow yours? How many are still missing in the last round?
  // At the end, rotate the row so that it starts with rank 0.
  throw NotImplemented("allgather_bruck");
}

}  // namespace rankbox
