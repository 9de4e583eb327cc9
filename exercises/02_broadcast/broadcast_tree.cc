#include "collectives/broadcast_tree.h"

namespace rankbox {

void broadcast_tree(Comm& dist, Tensor& tensor, int src) {
  // TODO: in every round, each rank that has the tensor sends it to one that does not.
  // Write it for src = 0 first. collectives/topology.h turns ranks into virtual ranks and back.
  // How many have it before round k, who serves whom, and what if no rank is left to serve?
  throw NotImplemented("broadcast_tree");
}

}  // namespace rankbox
