// The closed forms of chapters 6 to 9 that the planner multiplies.
//
// `//tests/judge:published_forms_test` and `published_pipelines_test` hold the solutions of the
// exercises to each of them: a learner's pipeline idles for as long as the planner prints.
//
// Seconds of passes are those of one micro-batch, or of one layer.
#pragma once

#include <cstdint>

#include "cli/plan/layout.h"

namespace rankbox::plan {

/// Seconds of the passes of one micro-batch through one stage.
struct Passes {
  double forward = 0;
  double backward = 0;  // all of it
  double weights = 0;   // of that, the gradients of the weights
};

/// Seconds that each rank of a pipeline of p ranks waits in a step of m micro-batches. GPipe and
/// 1F1B: (p-1)(F+B). Interleaved, v chunks a rank: a v-th of it. Zero bubble (ZB-H1):
/// (p-1)(F+B-2W), and for m < p (p-m)W more.
double pipeline_idle(Schedule schedule, std::int64_t p, std::int64_t m, std::int64_t chunks,
                     const Passes& passes);

/// Micro-batches whose activations the first rank holds at most: m for GPipe, min(m, p) for 1F1B
/// and zero bubble, and (p-1)/(pv) more of that for v chunks a rank.
double micro_batches_in_flight(Schedule schedule, std::int64_t p, std::int64_t m,
                               std::int64_t chunks);

/// The same of the last rank: m for GPipe, 1 for 1F1B, min(m, p) for zero bubble, and ((v-1)p+1)/v
/// for v chunks a rank.
double micro_batches_on_last(Schedule schedule, std::int64_t p, std::int64_t m,
                             std::int64_t chunks);

/// Bytes that a rank sends for the gradients and weights of `bytes` bytes each, in a step of
/// `micro_batches` passes: 2 (p-1)/p of them for an all-reduce, or for a reduce-scatter and an
/// all-gather. ZeRO-2 scatters, and FSDP gathers twice, in every pass. HSDP does so among `shard`
/// ranks, and all-reduces a shard among the others once.
double bytes_of_sharding(Sharding sharding, std::int64_t replicas, std::int64_t shard,
                         std::int64_t micro_batches, double bytes);

/// Bytes that a rank holds between steps.
struct State {
  double weights = 0;
  double gradients = 0;
  double optimizer = 0;

  double all() const { return weights + gradients + optimizer; }
};

inline State operator+(const State& a, const State& b) {
  return {a.weights + b.weights, a.gradients + b.gradients, a.optimizer + b.optimizer};
}

/// Returns what of a whole replica's state a rank holds, of `shard` that share.
State sharded_state(Sharding sharding, std::int64_t shard, const State& whole);

/// Seconds of a forward pass over L equal layers of c seconds, each gathered in g seconds while the
/// layer before it computes: g + (L-1) max(c, g) + c.
double prefetched_forward(std::int64_t layers, double compute, double gather);

/// Seconds of the backward pass after it: gradients are scattered in s seconds while the next layer
/// computes, and the last layer is still whole. max(c, g) + (L-2) max(c, g+s) + max(c, s) + s.
double prefetched_backward(std::int64_t layers, double compute, double gather, double scatter);

/// Seconds of a backward pass over `layers` equal layers, whose gradients travel one after the
/// other while earlier layers compute: max(Lc + r, c + Lr).
double overlapped_seconds(std::int64_t layers, double compute, double reduce);

}  // namespace rankbox::plan
