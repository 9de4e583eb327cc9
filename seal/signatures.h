// The families of exercises that are judged with a process for each rank, by their signatures.
//
//   table<Stub>()     for the referee: what a family calls instead of the learner's function
//   table<Invoke>()   for rank processes: how to call the learner's function
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/shared_value.h"
#include "comm/comm.h"
#include "parallel/checkpoint_rank0.h"
#include "parallel/dynamic_loss_scaling.h"
#include "parallel/metrics.h"
#include "parallel/parallel_attention.h"
#include "parallel/parallel_mlp.h"
#include "parallel/shard.h"
#include "parallel/stage.h"
#include "training/data/sampler.h"
#include "training/layers/linear.h"
#include "training/optimizer.h"

namespace rankbox::seal {

using Parameters = const std::vector<Parameter*>&;

struct Row {
  std::string_view family;
  void (*entry)();  // of the type that For<Signature>::call has
};

template <template <class> class For>
std::vector<Row> table() {
  const auto row = [](std::string_view family, auto* function) {
    return Row{family, reinterpret_cast<void (*)()>(function)};
  };
#define RANKBOX_ROW(family, ...) row(family, &For<void(__VA_ARGS__)>::call)
  return {
      RANKBOX_ROW("race", SharedValue&, int, std::int64_t),
      RANKBOX_ROW("ping_pong", Comm&, Tensor&, int),
      RANKBOX_ROW("exchange", Comm&, const Tensor&, Tensor&, int),
      RANKBOX_ROW("barrier", Comm&),
      RANKBOX_ROW("broadcast", Comm&, Tensor&, int),
      RANKBOX_ROW("segmented_broadcast", Comm&, Tensor&, int, int),
      RANKBOX_ROW("reduce", Comm&, Tensor&, int, ReduceOp),
      RANKBOX_ROW("allreduce", Comm&, Tensor&, ReduceOp),
      RANKBOX_ROW("hierarchical_allreduce", Comm&, Comm&, Tensor&, ReduceOp),
      RANKBOX_ROW("segmented_allreduce", Comm&, Tensor&, ReduceOp, int),
      RANKBOX_ROW("double_tree", Comm&, Tensor&, ReduceOp, int),
      RANKBOX_ROW("gather", Comm&, const Tensor&, Tensor&, int),
      RANKBOX_ROW("scatter", Comm&, const Tensor&, Tensor&, int),
      RANKBOX_ROW("allgather", Comm&, const Tensor&, Tensor&),
      RANKBOX_ROW("reduce_scatter", Comm&, Tensor&, Tensor&, ReduceOp),
      RANKBOX_ROW("alltoall", Comm&, const Tensor&, Tensor&),

      RANKBOX_ROW("distributed_sampler", std::int64_t, const SamplerOptions&, Share&),
      RANKBOX_ROW("ddp_init_broadcast", Comm&, Parameters, const std::vector<NamedTensor*>&),
      RANKBOX_ROW("ddp_average_gradients", Comm&, Parameters),
      RANKBOX_ROW("ddp_buckets", Comm&, Parameters, std::int64_t),
      RANKBOX_ROW("ddp_no_sync", Comm&, Sequential&, const std::vector<Batch>&),
      RANKBOX_ROW("ddp_overlap", Comm&, Sequential&, Tensor, Saved&, std::int64_t),
      RANKBOX_ROW("ddp_uneven_inputs", Comm&, Sequential&, Optimizer&, const std::vector<Batch>&),
      RANKBOX_ROW("split_without_leak", Comm&, std::int64_t, std::int64_t, std::int64_t,
                  std::vector<std::int64_t>&, std::vector<std::int64_t>&),
      RANKBOX_ROW("data_parallel", Comm&, Sequential&, const Batch&),
      RANKBOX_ROW("sync_batch_norm", Comm&, const Tensor&, const Tensor&, float, Tensor&, Tensor&),
      RANKBOX_ROW("checkpoint_rank0", Comm&, CheckpointAction, const std::string&,
                  const TrainingState&),
      RANKBOX_ROW("exact_metrics", Comm&, const Loss&, Metrics&),

      RANKBOX_ROW("bf16_gradients", Comm&, const TensorOf<BFloat16>&, int, int, Tensor&),
      RANKBOX_ROW("master_weights", const TensorOf<Float16>&, float, float, Tensor&,
                  TensorOf<Float16>&),
      RANKBOX_ROW("loss_scaling", Comm&, const std::vector<TensorOf<Float16>>&, float, Parameters),
      RANKBOX_ROW("dynamic_loss_scaling", Comm&, Parameters, LossScale&, bool&),
      RANKBOX_ROW("stochastic_rounding", const Tensor&, float, std::uint64_t, std::int64_t,
                  std::int64_t, TensorOf<BFloat16>&),

      RANKBOX_ROW("pipeline", Comm&, Stage&),
      RANKBOX_ROW("interleaved_pipeline", Comm&, std::vector<Stage>&),
      RANKBOX_ROW("pipeline_data_parallel", Comm&, Stage&, int),

      RANKBOX_ROW("zero1", Comm&, Parameters, Shard&, Optimizer&),
      RANKBOX_ROW("zero2", Comm&, Sequential&, Tensor, Saved&, std::vector<Shard>&, Optimizer&),
      RANKBOX_ROW("zero3", Comm&, Sequential&, const Batch&, Saved&, std::vector<Shard>&, Loss&,
                  Optimizer&),
      RANKBOX_ROW("clip_global_norm", Comm&, Parameters, Parameters, float, double&),

      RANKBOX_ROW("conjugate_f", Comm&, Direction, Tensor&),
      RANKBOX_ROW("conjugate_g", Comm&, Direction, Tensor&),
      RANKBOX_ROW("column_linear", Comm&, Linear&, Direction, Tensor&, Saved&),
      RANKBOX_ROW("row_linear", Comm&, Linear&, Parameter&, Direction, Tensor&, Saved&),
      RANKBOX_ROW("parallel_mlp", Comm&, ParallelMlp&, Direction, Tensor&, Saved&),
      RANKBOX_ROW("parallel_attention", Comm&, ParallelAttention&, Direction, Tensor&, Saved&),
      RANKBOX_ROW("vocab_parallel_cross_entropy", Comm&, const Tensor&, std::int64_t,
                  std::span<const std::int32_t>, Loss&),
      RANKBOX_ROW("sequence_parallel", Comm&, ParallelMlp&, Direction, Tensor&, Saved&),
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
