#include "cli/plan/estimate.h"

#include "cli/plan/share.h"
#include "cli/plan/step_time.h"

namespace rankbox::plan {

namespace {

State state_of(const Layout& layout, const Share& share) {
  const auto part = [&](std::int64_t ranks, double parameters) {
    return sharded_state(
        layout.sharding, ranks,
        {kWeightBytes * parameters, kGradientBytes * parameters, kOptimizerBytes * parameters});
  };
  return part(layout.shard, share.without_experts()) +
         part(layout.shard / layout.expert, share.of_experts());
}

Memory memory_of(const Task& task, const Layout& layout, const Share& share) {
  const auto tensor = static_cast<double>(layout.tensor);
  const double of_layer = layout.recomputes ? share.hidden / tensor : share.saved;
  // Activations of the first stage, and of the last one, which has the logits and their derivative
  // in 32 bits.
  double first = static_cast<double>(share.layers) * of_layer;
  double last = first;
  const double logits = 2 * 4 * share.tokens * static_cast<double>(task.model.vocabulary) / tensor;
  const std::int64_t p = layout.pipeline, m = layout.micro_batches;
  if (p > 1) {
    first *= micro_batches_in_flight(layout.schedule, p, m, layout.chunks);
    last *= micro_batches_on_last(layout.schedule, p, m, layout.chunks);
  }
  const bool is_last = last + logits > first;

  Memory memory;
  memory.state = state_of(layout, share);
  memory.activations = is_last ? last : first;
  memory.working = is_last ? logits : 0;
  if (layout.recomputes) memory.working += share.saved;
  if (shards_weights(layout)) {  // two layers' weights, one layer's gradients; and the embeddings
    memory.working += (2 * kWeightBytes + kGradientBytes) * (share.dense + share.experts) +
                      (kWeightBytes + kGradientBytes) * share.embeddings;
  }
  return memory;
}

Traffic traffic_of(const Layout& layout, const Share& share) {
  const auto tensor = static_cast<double>(layout.tensor);
  const auto m = static_cast<double>(layout.micro_batches);
  const double passes = m * static_cast<double>(share.layers);
  const double forwards = forwards_of(layout);
  const auto part = [](std::int64_t ranks) {
    return static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  };
  const auto sharding = [&](std::int64_t copies, double parameters) {
    return bytes_of_sharding(layout.sharding, layout.replicas() / copies, layout.shard / copies,
                             layout.micro_batches, kWeightBytes * parameters);
  };
  Traffic traffic;
  traffic.data = sharding(1, share.without_experts()) + sharding(layout.expert, share.of_experts());
  traffic.tensor = passes * (forwards + 1) * 4 * part(layout.tensor) * share.hidden;
  traffic.context =
      passes * (forwards + 2) * static_cast<double>(layout.context - 1) * share.keys_and_values;
  traffic.expert = passes * (forwards + 1) * 2 * part(layout.expert) * share.routed;
  if (layout.pipeline > 1) {
    const std::int64_t sides = layout.pipeline == 2 && layout.chunks == 1 ? 1 : 2;
    traffic.pipeline = static_cast<double>(sides * layout.chunks) * m * share.hidden / tensor;
  }
  return traffic;
}

}  // namespace

Estimate estimate(const Task& task, const Layout& layout) {
  const Share share = share_of(task.model, task.sequence, layout);
  Estimate estimate;
  estimate.layout = layout;
  estimate.memory = memory_of(task, layout, share);
  estimate.traffic = traffic_of(layout, share);
  estimate.seconds = seconds_of(task, layout, share, estimate.memory.state.optimizer);
  estimate.fits = estimate.memory.all() <= kUsableMemory * task.gpu.memory;
  const auto tokens = static_cast<double>(task.batch * task.sequence);
  estimate.tokens_per_gpu = tokens / estimate.seconds.all() / static_cast<double>(layout.gpus());
  estimate.mfu = estimate.tokens_per_gpu * model_operations_per_token(task.model, task.sequence) /
                 task.gpu.peak;
  return estimate;
}

}  // namespace rankbox::plan
