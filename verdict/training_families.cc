// The families of the chapters about training.
#include "verdict/data_parallel/checkpoint_rank0.h"
#include "verdict/data_parallel/data_parallel.h"
#include "verdict/data_parallel/ddp_average_gradients.h"
#include "verdict/data_parallel/ddp_buckets.h"
#include "verdict/data_parallel/ddp_init_broadcast.h"
#include "verdict/data_parallel/ddp_no_sync.h"
#include "verdict/data_parallel/ddp_overlap.h"
#include "verdict/data_parallel/ddp_uneven_inputs.h"
#include "verdict/data_parallel/distributed_sampler.h"
#include "verdict/data_parallel/exact_metrics.h"
#include "verdict/data_parallel/split_without_leak.h"
#include "verdict/data_parallel/sync_batch_norm.h"
#include "verdict/families.h"
#include "verdict/mixed_precision/dynamic_loss_scaling.h"
#include "verdict/mixed_precision/loss_scaling.h"
#include "verdict/mixed_precision/master_weights.h"
#include "verdict/pipeline/interleaved_pipeline.h"
#include "verdict/pipeline/pipeline.h"
#include "verdict/pipeline/pipeline_data_parallel.h"
#include "verdict/sharding/zero1.h"
#include "verdict/sharding/zero2.h"
#include "verdict/sharding/zero3.h"
#include "verdict/tensor_parallel/column_linear.h"
#include "verdict/tensor_parallel/conjugate.h"
#include "verdict/tensor_parallel/parallel_attention.h"
#include "verdict/tensor_parallel/parallel_mlp.h"
#include "verdict/tensor_parallel/row_linear.h"
#include "verdict/tensor_parallel/sequence_parallel.h"
#include "verdict/tensor_parallel/vocab_parallel_cross_entropy.h"

namespace rankbox {

namespace {

const Schedule& schedule_named(std::string_view name) {
  if (name == "gpipe") return schedule::kGpipe;
  if (name == "1f1b") return schedule::k1F1B;
  return schedule::kModelParallel;
}

std::unique_ptr<Subject> pipeline(AnyFunction function, std::string_view cost) {
  return std::make_unique<Pipeline>(reinterpret_cast<Pipeline::Function>(function),
                                    schedule_named(cost));
}

const bool kAdded = add_families({
    family<DistributedSampler>("distributed_sampler"),
    family<DdpInitBroadcast>("ddp_init_broadcast"),
    family<DdpAverageGradients>("ddp_average_gradients"),
    family<DdpBuckets>("ddp_buckets"),
    family<DdpNoSync>("ddp_no_sync"),
    family<DdpOverlap>("ddp_overlap"),
    family<DdpUnevenInputs>("ddp_uneven_inputs"),
    family<SplitWithoutLeak>("split_without_leak"),
    family<DataParallel>("data_parallel"),
    family<SyncBatchNorm>("sync_batch_norm"),
    family<CheckpointRank0>("checkpoint_rank0"),
    family<ExactMetrics>("exact_metrics"),

    family<MasterWeights>("master_weights"),
    family<LossScaling>("loss_scaling"),
    family<DynamicLossScaling>("dynamic_loss_scaling"),

    Family{"pipeline", Pipeline::kParameters, {"model_parallel", "gpipe", "1f1b"}, false, pipeline},
    family<InterleavedPipeline>("interleaved_pipeline"),
    family<PipelineDataParallel>("pipeline_data_parallel"),

    family<Zero1>("zero1"),
    family<Zero2>("zero2"),
    family<Zero3>("zero3"),

    family<ConjugateF>("conjugate_f"),
    family<ConjugateG>("conjugate_g"),
    family<ColumnLinear>("column_linear"),
    family<RowLinear>("row_linear"),
    family<ParallelMlpBlock>("parallel_mlp"),
    family<ParallelAttentionBlock>("parallel_attention"),
    family<VocabParallelCrossEntropy>("vocab_parallel_cross_entropy"),
    family<SequenceParallel>("sequence_parallel"),
});

}  // namespace

}  // namespace rankbox
