// What one step of a layout takes on a cluster: bytes held, bytes sent, seconds.
//
// Assumed, and printed by --json: weights and gradients of 16 bits, Adam with 32-bit masters (12
// bytes a parameter); attention that keeps no scores, sequence parallelism beside tensor
// parallelism; FSDP prefetches one layer; gradients travel under the last backward pass; messages
// of tensor, expert and pipeline parallelism are not hidden; tokens are routed evenly.
#pragma once

#include <cstdint>

#include "cli/plan/closed_forms.h"
#include "cli/plan/gpu_facts.h"
#include "cli/plan/layout.h"
#include "cli/plan/transformer.h"
#include "comm/cluster.h"

namespace rankbox::plan {

/// A model, a batch and the machine to train it on.
struct Task {
  Transformer model;
  std::int64_t sequence = 1;  // tokens of one
  std::int64_t batch = 1;     // sequences in a step
  std::int64_t gpus = 1;
  Cluster cluster;
  GpuFacts gpu;
};

/// Bytes on the GPU that holds the most.
struct Memory {
  State state;
  double activations = 0;  // of the micro-batches in flight
  double working = 0;      // whole layers of FSDP, logits, the layer that is recomputed

  double all() const { return state.all() + activations + working; }
};

/// Bytes that a GPU sends in a step.
struct Traffic {
  double data = 0;  // gradients, and weights of shards
  double tensor = 0;
  double context = 0;
  double expert = 0;
  double pipeline = 0;

  double all() const { return data + tensor + context + expert + pipeline; }
};

/// Seconds of a step, by what they are spent on.
struct Seconds {
  double compute = 0;
  double data = 0;  // exposed, as those below
  double tensor = 0;
  double context = 0;
  double expert = 0;
  double messages = 0;  // of the pipeline
  double bubble = 0;
  double optimizer = 0;

  double all() const {
    return compute + data + tensor + context + expert + messages + bubble + optimizer;
  }
};

struct Estimate {
  Layout layout;
  Memory memory;
  Traffic traffic;
  Seconds seconds;
  bool fits = false;
  double tokens_per_gpu = 0;  // a second
  double mfu = 0;             // model_operations_per_token() of the peak
};

/// The share of a GPU's memory that a plan may use: the rest is for the CUDA context, NCCL's
/// buffers and what the allocator cannot give back.
inline constexpr double kUsableMemory = 0.92;

/// Bytes of a parameter: weights and gradients of 16 bits; masters and Adam's moments of 32.
inline constexpr double kWeightBytes = 2, kGradientBytes = 2, kOptimizerBytes = 12;

/// How often a micro-batch runs forward in a step.
inline double forwards_of(const Layout& layout) { return layout.recomputes ? 2 : 1; }

/// Whether weights are whole only while their layer works: FSDP and HSDP.
inline bool shards_weights(const Layout& layout) {
  return layout.sharding == Sharding::kZero3 || layout.sharding == Sharding::kHybrid;
}

/// REQUIRES: layout's degrees divide what they cut, and its micro-batches are all of the batch.
Estimate estimate(const Task& task, const Layout& layout);

}  // namespace rankbox::plan
