// pipeline_data_parallel: several pipelines side by side, each with its own part of the batch.
//
// With more ranks than stages, the world is a grid. A micro-batch travels from stage to stage along
// a row; the ranks of a column hold the same stage and must take the same step. Rank = replica ·
// stages + stage, so that a pipeline's ranks are neighbours. (Megatron-LM makes pipeline ranks the
// outermost ones: data parallel ranks are then neighbours, and pipelines cross nodes.)
//
//                  stage 0     stage 1     stage 2
//   replica 0      rank 0  ─▶  rank 1  ─▶  rank 2        a pipeline: dist.split(replica)
//   replica 1      rank 3  ─▶  rank 4  ─▶  rank 5
//                    ╰─ mean of the gradients ─╯         a column:   dist.split(stage)
//
// First each pipeline processes its micro-batches, then each column averages its gradients as
// ddp_average_gradients does, but only those of its stage: 1/stages of the model's bytes.
//
// Build on dist.split, pipeline_1f1b and ddp_average_gradients (both are available, whether you
// have written yours or not).
//
// Making the communicators is a part of this exercise. On NCCL a split takes milliseconds to
// seconds, so a program makes them once and passes them in, as allreduce_hierarchical gets them. It
// would also send the gradients in buckets, during backward (ddp_overlap).
//
// Cost: at most two splits; pipeline_1f1b in the row; native all-reduces of the stage's gradients
// in the column, each once. Idle: (stages-1)/(m + stages-1) of the time, where m is the number of
// micro-batches of one replica.
// Memory: as pipeline_1f1b.
// Blocks: until all ranks of the column have called it.
// Difficulty 2/5. Importance 4/5.
// Paper: Narayanan et al., Efficient large-scale language model training on GPU clusters using
// Megatron-LM, SC 2021, section 3.
#pragma once

#include "comm/comm.h"
#include "parallel/stage.h"

namespace rankbox {

/// Afterwards the gradients of each stage's parameters are those of the mean loss over the
/// micro-batches of all replicas.
///
/// @param stage number rank() % stages; ranks of one replica are loaded with the same micro-batches
/// @param stages divides world_size()
/// REQUIRES: all replicas have equally many samples, in equally many micro-batches; gradients are
/// empty or zero.
/// Errors: those of pipeline_1f1b; CollectiveMismatch if the columns' stages differ.
void pipeline_data_parallel(Comm& dist, Stage& stage, int stages);

}  // namespace rankbox
