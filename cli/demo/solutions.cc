#include "cli/demo/solutions.h"

#include "collectives/allgather_bruck.h"
#include "collectives/allgather_naive.h"
#include "collectives/allgather_ring.h"
#include "collectives/allgather_tree.h"
#include "collectives/allreduce_butterfly.h"
#include "collectives/allreduce_hierarchical.h"
#include "collectives/allreduce_naive.h"
#include "collectives/allreduce_rabenseifner.h"
#include "collectives/allreduce_ring.h"
#include "collectives/allreduce_tree.h"
#include "collectives/alltoall_pairwise.h"
#include "collectives/barrier_dissemination.h"
#include "collectives/broadcast_naive.h"
#include "collectives/broadcast_ring.h"
#include "collectives/broadcast_ring_pipelined.h"
#include "collectives/broadcast_scatter_allgather.h"
#include "collectives/broadcast_tree.h"
#include "collectives/exchange.h"
#include "collectives/gather_naive.h"
#include "collectives/gather_tree.h"
#include "collectives/ping_pong.h"
#include "collectives/race.h"
#include "collectives/reduce_naive.h"
#include "collectives/reduce_scatter_gather.h"
#include "collectives/reduce_scatter_ring.h"
#include "collectives/reduce_tree.h"
#include "collectives/scatter_tree.h"
#include "parallel/checkpoint_rank0.h"
#include "parallel/column_linear.h"
#include "parallel/conjugate_f.h"
#include "parallel/conjugate_g.h"
#include "parallel/data_parallel.h"
#include "parallel/ddp_average_gradients.h"
#include "parallel/ddp_buckets.h"
#include "parallel/ddp_init_broadcast.h"
#include "parallel/ddp_no_sync.h"
#include "parallel/ddp_overlap.h"
#include "parallel/ddp_uneven_inputs.h"
#include "parallel/distributed_sampler.h"
#include "parallel/dynamic_loss_scaling.h"
#include "parallel/exact_metrics.h"
#include "parallel/loss_scaling.h"
#include "parallel/master_weights.h"
#include "parallel/model_parallel.h"
#include "parallel/parallel_attention.h"
#include "parallel/parallel_mlp.h"
#include "parallel/pipeline_1f1b.h"
#include "parallel/pipeline_data_parallel.h"
#include "parallel/pipeline_gpipe.h"
#include "parallel/pipeline_interleaved.h"
#include "parallel/row_linear.h"
#include "parallel/sequence_parallel.h"
#include "parallel/split_without_leak.h"
#include "parallel/sync_batch_norm.h"
#include "parallel/vocab_parallel_cross_entropy.h"
#include "parallel/zero1.h"
#include "parallel/zero2.h"
#include "parallel/zero3.h"

namespace rankbox::cli {
namespace {

struct Solution {
  const char* exercise;
  AnyFunction function;
};

/// The judge casts back to the real type.
template <class Function>
AnyFunction any(Function* function) {
  return reinterpret_cast<AnyFunction>(function);
}

const Solution kSolutions[] = {
    {"race", any(&race)},
    {"ping_pong", any(&ping_pong)},
    {"exchange", any(&exchange)},
    {"barrier_dissemination", any(&barrier_dissemination)},
    {"broadcast_naive", any(&broadcast_naive)},
    {"broadcast_tree", any(&broadcast_tree)},
    {"broadcast_ring", any(&broadcast_ring)},
    {"broadcast_ring_pipelined", any(&broadcast_ring_pipelined)},
    {"broadcast_scatter_allgather", any(&broadcast_scatter_allgather)},
    {"reduce_naive", any(&reduce_naive)},
    {"reduce_tree", any(&reduce_tree)},
    {"reduce_scatter_gather", any(&reduce_scatter_gather)},
    {"allreduce_naive", any(&allreduce_naive)},
    {"allreduce_tree", any(&allreduce_tree)},
    {"allreduce_butterfly", any(&allreduce_butterfly)},
    {"allreduce_ring", any(&allreduce_ring)},
    {"allreduce_rabenseifner", any(&allreduce_rabenseifner)},
    {"allreduce_hierarchical", any(&allreduce_hierarchical)},
    {"gather_naive", any(&gather_naive)},
    {"gather_tree", any(&gather_tree)},
    {"scatter_tree", any(&scatter_tree)},
    {"allgather_naive", any(&allgather_naive)},
    {"allgather_tree", any(&allgather_tree)},
    {"allgather_ring", any(&allgather_ring)},
    {"allgather_bruck", any(&allgather_bruck)},
    {"reduce_scatter_ring", any(&reduce_scatter_ring)},
    {"alltoall_pairwise", any(&alltoall_pairwise)},
    {"distributed_sampler", any(&distributed_sampler)},
    {"ddp_init_broadcast", any(&ddp_init_broadcast)},
    {"ddp_average_gradients", any(&ddp_average_gradients)},
    {"ddp_buckets", any(&ddp_buckets)},
    {"ddp_no_sync", any(&ddp_no_sync)},
    {"ddp_overlap", any(&ddp_overlap)},
    {"ddp_uneven_inputs", any(&ddp_uneven_inputs)},
    {"split_without_leak", any(&split_without_leak)},
    {"data_parallel", any(&data_parallel)},
    {"sync_batch_norm", any(&sync_batch_norm)},
    {"checkpoint_rank0", any(&checkpoint_rank0)},
    {"exact_metrics", any(&exact_metrics)},
    {"master_weights", any(&master_weights)},
    {"loss_scaling", any(&loss_scaling)},
    {"dynamic_loss_scaling", any(&dynamic_loss_scaling)},
    {"model_parallel", any(&model_parallel)},
    {"pipeline_gpipe", any(&pipeline_gpipe)},
    {"pipeline_1f1b", any(&pipeline_1f1b)},
    {"pipeline_interleaved", any(&pipeline_interleaved)},
    {"pipeline_data_parallel", any(&pipeline_data_parallel)},
    {"zero1", any(&zero1)},
    {"zero2", any(&zero2)},
    {"zero3", any(&zero3)},
    {"conjugate_f", any(&conjugate_f)},
    {"conjugate_g", any(&conjugate_g)},
    {"column_linear", any(&column_linear)},
    {"row_linear", any(&row_linear)},
    {"parallel_mlp", any(&parallel_mlp)},
    {"parallel_attention", any(&parallel_attention)},
    {"vocab_parallel_cross_entropy", any(&vocab_parallel_cross_entropy)},
    {"sequence_parallel", any(&sequence_parallel)},
};

}  // namespace

AnyFunction solution_of(std::string_view exercise) {
  for (const Solution& solution : kSolutions) {
    if (exercise == solution.exercise) {
      return solution.function;
    }
  }
  return nullptr;
}

}  // namespace rankbox::cli
