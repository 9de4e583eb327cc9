// The families of exercises that are judged with a process for each rank, by the signature of one
// contract of each.
//
//   table<Stub>()     for the referee: what a family calls instead of the learner's function
//   table<Invoke>()   for rank processes: how to call the learner's function
#pragma once

#include <string_view>
#include <vector>

#include "collectives/allgather_naive.h"
#include "collectives/allreduce_double_tree.h"
#include "collectives/allreduce_hierarchical.h"
#include "collectives/allreduce_naive.h"
#include "collectives/allreduce_ring_segmented.h"
#include "collectives/alltoall_pairwise.h"
#include "collectives/barrier_dissemination.h"
#include "collectives/broadcast_naive.h"
#include "collectives/broadcast_ring_pipelined.h"
#include "collectives/exchange.h"
#include "collectives/gather_naive.h"
#include "collectives/ping_pong.h"
#include "collectives/race.h"
#include "collectives/reduce_naive.h"
#include "collectives/reduce_scatter_ring.h"
#include "collectives/scatter_tree.h"
#include "parallel/alltoallv.h"
#include "parallel/bf16_gradients.h"
#include "parallel/checkpoint_rank0.h"
#include "parallel/clip_global_norm.h"
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
#include "parallel/dropout_seeds.h"
#include "parallel/dynamic_loss_scaling.h"
#include "parallel/exact_metrics.h"
#include "parallel/expert_parallel_layer.h"
#include "parallel/fsdp_prefetch.h"
#include "parallel/hsdp.h"
#include "parallel/load_balance_loss.h"
#include "parallel/loss_scaling.h"
#include "parallel/master_weights.h"
#include "parallel/model_parallel.h"
#include "parallel/moe_dispatch_combine.h"
#include "parallel/moe_zero_tokens.h"
#include "parallel/parallel_attention.h"
#include "parallel/parallel_mlp.h"
#include "parallel/pipeline_data_parallel.h"
#include "parallel/pipeline_interleaved.h"
#include "parallel/recompute.h"
#include "parallel/reshard.h"
#include "parallel/ring_attention.h"
#include "parallel/ring_attention_backward.h"
#include "parallel/ring_attention_causal_zigzag.h"
#include "parallel/row_linear.h"
#include "parallel/sequence_parallel.h"
#include "parallel/split_without_leak.h"
#include "parallel/stochastic_rounding.h"
#include "parallel/sync_batch_norm.h"
#include "parallel/ulysses.h"
#include "parallel/vocab_parallel_cross_entropy.h"
#include "parallel/zero1.h"
#include "parallel/zero2.h"
#include "parallel/zero3.h"

namespace rankbox::seal {

struct Row {
  std::string_view family;
  void (*entry)();  // of the type that For<Signature>::call has
};

template <template <class> class For>
std::vector<Row> table() {
  const auto row = [](std::string_view family, auto* function) {
    return Row{family, reinterpret_cast<void (*)()>(function)};
  };
#define RANKBOX_ROW(family, contract) row(family, &For<decltype(contract)>::call)
  return {
      RANKBOX_ROW("race", race),
      RANKBOX_ROW("ping_pong", ping_pong),
      RANKBOX_ROW("exchange", exchange),
      RANKBOX_ROW("barrier", barrier_dissemination),
      RANKBOX_ROW("broadcast", broadcast_naive),
      RANKBOX_ROW("segmented_broadcast", broadcast_ring_pipelined),
      RANKBOX_ROW("reduce", reduce_naive),
      RANKBOX_ROW("allreduce", allreduce_naive),
      RANKBOX_ROW("hierarchical_allreduce", allreduce_hierarchical),
      RANKBOX_ROW("segmented_allreduce", allreduce_ring_segmented),
      RANKBOX_ROW("double_tree", allreduce_double_tree),
      RANKBOX_ROW("gather", gather_naive),
      RANKBOX_ROW("scatter", scatter_tree),
      RANKBOX_ROW("allgather", allgather_naive),
      RANKBOX_ROW("reduce_scatter", reduce_scatter_ring),
      RANKBOX_ROW("alltoall", alltoall_pairwise),

      RANKBOX_ROW("distributed_sampler", distributed_sampler),
      RANKBOX_ROW("ddp_init_broadcast", ddp_init_broadcast),
      RANKBOX_ROW("ddp_average_gradients", ddp_average_gradients),
      RANKBOX_ROW("ddp_buckets", ddp_buckets),
      RANKBOX_ROW("ddp_no_sync", ddp_no_sync),
      RANKBOX_ROW("ddp_overlap", ddp_overlap),
      RANKBOX_ROW("ddp_uneven_inputs", ddp_uneven_inputs),
      RANKBOX_ROW("split_without_leak", split_without_leak),
      RANKBOX_ROW("data_parallel", data_parallel),
      RANKBOX_ROW("sync_batch_norm", sync_batch_norm),
      RANKBOX_ROW("checkpoint_rank0", checkpoint_rank0),
      RANKBOX_ROW("exact_metrics", exact_metrics),

      RANKBOX_ROW("bf16_gradients", bf16_gradients),
      RANKBOX_ROW("master_weights", master_weights),
      RANKBOX_ROW("loss_scaling", loss_scaling),
      RANKBOX_ROW("dynamic_loss_scaling", dynamic_loss_scaling),
      RANKBOX_ROW("stochastic_rounding", stochastic_rounding),

      RANKBOX_ROW("pipeline", model_parallel),
      RANKBOX_ROW("interleaved_pipeline", pipeline_interleaved),
      RANKBOX_ROW("pipeline_data_parallel", pipeline_data_parallel),
      RANKBOX_ROW("recompute", recompute),

      RANKBOX_ROW("zero1", zero1),
      RANKBOX_ROW("zero2", zero2),
      RANKBOX_ROW("zero3", zero3),
      RANKBOX_ROW("fsdp_prefetch", fsdp_prefetch),
      RANKBOX_ROW("hsdp", hsdp),
      RANKBOX_ROW("reshard", reshard),
      RANKBOX_ROW("clip_global_norm", clip_global_norm),

      RANKBOX_ROW("conjugate_f", conjugate_f),
      RANKBOX_ROW("conjugate_g", conjugate_g),
      RANKBOX_ROW("column_linear", column_linear),
      RANKBOX_ROW("row_linear", row_linear),
      RANKBOX_ROW("parallel_mlp", parallel_mlp),
      RANKBOX_ROW("parallel_attention", parallel_attention),
      RANKBOX_ROW("vocab_parallel_cross_entropy", vocab_parallel_cross_entropy),
      RANKBOX_ROW("dropout_seeds", dropout_seeds),
      RANKBOX_ROW("sequence_parallel", sequence_parallel),

      RANKBOX_ROW("alltoallv", alltoallv),
      RANKBOX_ROW("expert_parallel_layer", expert_parallel_layer),
      RANKBOX_ROW("load_balance_loss", load_balance_loss),
      RANKBOX_ROW("moe_dispatch_combine", moe_dispatch_combine),
      RANKBOX_ROW("moe_zero_tokens", moe_zero_tokens),

      RANKBOX_ROW("ring_attention", ring_attention),
      RANKBOX_ROW("ulysses", ulysses),
      RANKBOX_ROW("ring_attention_causal_zigzag", ring_attention_causal_zigzag),
      RANKBOX_ROW("ring_attention_backward", ring_attention_backward),
  };
#undef RANKBOX_ROW
}

/// Returns the entry of a family; null if it has none.
template <template <class> class For>
void (*find_entry(std::string_view family))() {
  for (const Row& row : table<For>()) {
    if (row.family == family) return row.entry;
  }
  return nullptr;
}

}  // namespace rankbox::seal
