#include "cli/plan/closed_forms.h"

#include <algorithm>

namespace rankbox::plan {

double pipeline_idle(Schedule schedule, std::int64_t p, std::int64_t m, std::int64_t chunks,
                     const Passes& passes) {
  const auto others = static_cast<double>(p - 1);
  const double all = passes.forward + passes.backward;
  if (p == 1) return 0;
  switch (schedule) {
    case Schedule::kGpipe:
    case Schedule::k1f1b:
      return others * all;
    case Schedule::kInterleaved:
      return others * all / static_cast<double>(chunks);
    case Schedule::kZeroBubble:
      return others * (all - 2 * passes.weights) +
             static_cast<double>(std::max<std::int64_t>(0, p - m)) * passes.weights;
  }
  return 0;
}

double micro_batches_in_flight(Schedule schedule, std::int64_t p, std::int64_t m,
                               std::int64_t chunks) {
  if (schedule == Schedule::kGpipe) return static_cast<double>(m);
  const auto held = static_cast<double>(std::min(m, p));
  if (schedule != Schedule::kInterleaved || p == 1) return held;
  const double more = static_cast<double>(p - 1) / static_cast<double>(p * chunks);
  return std::min(static_cast<double>(m), held * (1 + more));
}

double micro_batches_on_last(Schedule schedule, std::int64_t p, std::int64_t m,
                             std::int64_t chunks) {
  switch (schedule) {
    case Schedule::kGpipe:
      return static_cast<double>(m);
    case Schedule::k1f1b:
      return 1;
    case Schedule::kInterleaved:
      return static_cast<double>((chunks - 1) * p + 1) / static_cast<double>(chunks);
    case Schedule::kZeroBubble:
      return static_cast<double>(std::min(m, p));
  }
  return 0;
}

double bytes_of_sharding(Sharding sharding, std::int64_t replicas, std::int64_t shard,
                         std::int64_t micro_batches, double bytes) {
  const auto share = [](std::int64_t ranks) {
    return static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  };
  const auto passes = static_cast<double>(micro_batches);
  switch (sharding) {
    case Sharding::kNone:
    case Sharding::kZero1:
      return 2 * share(replicas) * bytes;
    case Sharding::kZero2:
      return (passes + 1) * share(replicas) * bytes;
    case Sharding::kZero3:
      return 3 * passes * share(replicas) * bytes;
    case Sharding::kHybrid:
      return 3 * passes * share(shard) * bytes +
             2 * share(replicas / shard) * bytes / static_cast<double>(shard);
  }
  return 0;
}

State sharded_state(Sharding sharding, std::int64_t shard, const State& whole) {
  State state = whole;
  const auto ranks = static_cast<double>(shard);
  if (sharding == Sharding::kNone) return state;
  state.optimizer /= ranks;
  if (sharding == Sharding::kZero1) return state;
  state.gradients /= ranks;
  if (sharding == Sharding::kZero2) return state;
  state.weights /= ranks;
  return state;
}

double prefetched_forward(std::int64_t layers, double compute, double gather) {
  return gather + static_cast<double>(layers - 1) * std::max(compute, gather) + compute;
}

double prefetched_backward(std::int64_t layers, double compute, double gather, double scatter) {
  if (layers == 1) return compute + scatter;
  return std::max(compute, gather) +
         static_cast<double>(layers - 2) * std::max(compute, gather + scatter) +
         std::max(compute, scatter) + scatter;
}

double overlapped_seconds(std::int64_t layers, double compute, double reduce) {
  const auto all = static_cast<double>(layers);
  return std::max(all * compute + reduce, compute + all * reduce);
}

}  // namespace rankbox::plan
