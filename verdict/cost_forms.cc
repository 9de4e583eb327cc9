#include "verdict/cost_forms.h"

#include "collectives/cost.h"
#include "collectives/cost_gather.h"
#include "collectives/cost_ranks.h"

namespace rankbox {

const std::vector<NamedCostForm>& cost_forms() {
  static const std::vector<NamedCostForm> all = {
      {"ping_pong", cost::ping_pong},
      {"exchange", cost::exchange},
      {"barrier_dissemination", cost::barrier_dissemination},

      {"broadcast_naive", cost::broadcast_naive},
      {"broadcast_tree", cost::broadcast_tree},
      {"broadcast_ring", cost::broadcast_ring},
      {"broadcast_ring_pipelined", cost::broadcast_ring_pipelined},
      {"broadcast_scatter_allgather", cost::broadcast_scatter_allgather},

      {"reduce_naive", cost::reduce_naive},
      {"reduce_tree", cost::reduce_tree},
      {"reduce_scatter_gather", cost::reduce_scatter_gather},

      {"allreduce_naive", cost::allreduce_naive},
      {"allreduce_tree", cost::allreduce_tree},
      {"allreduce_butterfly", cost::allreduce_butterfly},
      {"allreduce_ring", cost::allreduce_ring},
      {"allreduce_rabenseifner", cost::allreduce_rabenseifner},
      {"allreduce_hierarchical", cost::allreduce_hierarchical},

      {"gather_naive", cost::gather_naive},
      {"gather_tree", cost::gather_tree},
      {"scatter_tree", cost::scatter_tree},
      {"allgather_naive", cost::allgather_naive},
      {"allgather_tree", cost::allgather_tree},
      {"allgather_ring", cost::allgather_ring},
      {"allgather_bruck", cost::allgather_bruck},
      {"reduce_scatter_ring", cost::reduce_scatter_ring},
      {"alltoall_pairwise", cost::alltoall_pairwise},
  };
  return all;
}

}  // namespace rankbox
