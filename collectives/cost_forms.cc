#include "collectives/cost_forms.h"

#include "collectives/cost.h"
#include "collectives/cost_gather.h"
#include "collectives/cost_ranks.h"

namespace rankbox::cost {

const std::vector<NamedForm>& named_forms() {
  static const std::vector<NamedForm> all = {
      {"ping_pong", ping_pong},
      {"exchange", exchange},
      {"barrier_dissemination", barrier_dissemination},

      {"broadcast_naive", broadcast_naive},
      {"broadcast_tree", broadcast_tree},
      {"broadcast_ring", broadcast_ring},
      {"broadcast_ring_pipelined", broadcast_ring_pipelined},
      {"broadcast_scatter_allgather", broadcast_scatter_allgather},

      {"reduce_naive", reduce_naive},
      {"reduce_tree", reduce_tree},
      {"reduce_scatter_gather", reduce_scatter_gather},

      {"allreduce_naive", allreduce_naive},
      {"allreduce_tree", allreduce_tree},
      {"allreduce_butterfly", allreduce_butterfly},
      {"allreduce_ring", allreduce_ring},
      {"allreduce_ring_segmented", allreduce_ring_segmented},
      {"allreduce_double_tree", allreduce_double_tree},
      {"allreduce_rabenseifner", allreduce_rabenseifner},
      {"allreduce_hierarchical", allreduce_hierarchical},

      {"gather_naive", gather_naive},
      {"gather_tree", gather_tree},
      {"scatter_tree", scatter_tree},
      {"allgather_naive", allgather_naive},
      {"allgather_tree", allgather_tree},
      {"allgather_ring", allgather_ring},
      {"allgather_bruck", allgather_bruck},
      {"reduce_scatter_ring", reduce_scatter_ring},
      {"alltoall_pairwise", alltoall_pairwise},
  };
  return all;
}

}  // namespace rankbox::cost
