#include "cli/plan/step_time.h"

#include <algorithm>

#include "sim/clock/native_cost.h"

namespace rankbox::plan {

namespace {

using enum CollectiveKind;

// Adam reads and writes masters and moments, reads gradients and writes weights.
constexpr double kBytesOfAnUpdate = 2 * kOptimizerBytes + kGradientBytes + kWeightBytes;
// Norms, activations and residuals are bound by memory: forward writes each saved byte and reads
// it once; backward reads it, and reads and writes its derivative.
constexpr double kForwardAccesses = 2, kBackwardAccesses = 4;
// Fused attention computes the scores again in backward: five products for two.
constexpr double kAttentionBackward = 2.5;

/// Ranks that communicate: so many, and how many of them a node has.
struct Group {
  std::int64_t ranks = 1;
  std::int64_t in_a_node = 1;
};

class StepTime {
 public:
  StepTime(const Task& task, const Layout& layout, const Share& share)
      : task_(task), layout_(layout), share_(share) {}

  Seconds seconds(double optimizer_bytes) const {
    Seconds step;
    const auto m = to_double(layout_.micro_batches);
    const double forward_of_layer = layer_seconds(false);
    const double again = layout_.recomputes ? forward_of_layer : 0;
    const double backward_of_layer = layer_seconds(true) + again;
    // A pipeline waits for its slowest stage, the last, which has the logits.
    const Passes compute = {layers() * forward_of_layer + output_seconds(false),
                            layers() * backward_of_layer + output_seconds(true), 0};
    step.compute = m * (compute.forward + compute.backward);
    step.tensor = m * layers() * (forwards() + 1) * tensor_seconds();
    step.context = m * layers() * (forwards() * context_seconds(false) + context_seconds(true));
    step.expert = m * layers() * (forwards() + 1) * expert_seconds();
    const double forward =
        forward_of_layer + tensor_seconds() + context_seconds(false) + expert_seconds();
    const double backward = backward_of_layer + forwards() * tensor_seconds() +
                            (forwards() - 1) * context_seconds(false) + context_seconds(true) +
                            forwards() * expert_seconds();
    step.data = data_seconds(forward, backward);
    if (layout_.pipeline > 1) {
      const double one = message(layout_.gpus(), share_.hidden / to_double(layout_.tensor));
      step.messages = 2 * (m * to_double(layout_.chunks) + to_double(layout_.pipeline - 1)) * one;
      Passes stage = {layers() * forward, layers() * backward, 0};
      stage.weights =
          layers() * of_products(share_.tokens * operations_per_token(task_.model, 1).of_products);
      step.bubble = pipeline_idle(layout_.schedule, layout_.pipeline, layout_.micro_batches,
                                  layout_.chunks, stage);
    }
    step.optimizer = kBytesOfAnUpdate / kOptimizerBytes * optimizer_bytes / task_.gpu.bandwidth;
    return step;
  }

 private:
  static double to_double(std::int64_t number) { return static_cast<double>(number); }
  double layers() const { return to_double(share_.layers); }

  // ---- Groups ----------------------------------------------------------------------------------

  /// Returns how many ranks of a node are `stride` apart.
  std::int64_t in_a_node(std::int64_t stride) const {
    return std::max<std::int64_t>(1, ranks_per_node() / stride);
  }

  Group tensor() const { return {layout_.tensor, in_a_node(1)}; }
  Group expert() const { return {layout_.expert, in_a_node(layout_.tensor * layout_.context)}; }
  /// The data-parallel and context ranks of one model.
  Group replicas() const { return {layout_.replicas(), in_a_node(layout_.tensor)}; }
  /// Of those, the ranks that shard one replica.
  Group shard_group() const { return {layout_.shard, in_a_node(layout_.tensor)}; }
  /// Of those, the ranks that have the same experts: all context ranks, and some of the others.
  Group shard_group_of_experts() const {
    const std::int64_t contexts = std::min(layout_.context, in_a_node(layout_.tensor));
    return {layout_.shard / layout_.expert,
            contexts * in_a_node(layout_.tensor * layout_.context * layout_.expert)};
  }
  /// The ranks that hold the same shard.
  Group replica_group() const {
    return {layout_.replicas() / layout_.shard, in_a_node(layout_.tensor * layout_.shard)};
  }

  std::int64_t ranks_per_node() const {
    return task_.cluster.ranks_per_node > 0 ? task_.cluster.ranks_per_node : task_.gpus;
  }

  double collective(CollectiveKind kind, const Group& group, double bytes) const {
    if (group.ranks == 1 || bytes <= 0) return 0;
    const std::int64_t nodes = (group.ranks + group.in_a_node - 1) / group.in_a_node;
    cost::NativeCall call;
    call.kind = kind;
    call.world_size = static_cast<int>(group.ranks);
    call.nodes = static_cast<int>(nodes);
    call.bytes = bytes;
    return cost::native_seconds(call, task_.cluster);
  }

  double gather(const Group& group, double bytes) const {
    return collective(kAllGather, group, bytes / to_double(group.ranks));
  }
  double scatter(const Group& group, double bytes) const {
    return collective(kReduceScatter, group, bytes);
  }

  /// @param ranks that a ring of such messages spans: it waits for a link that leaves the node
  double message(std::int64_t ranks, double bytes) const {
    const Link& link =
        ranks > ranks_per_node() ? task_.cluster.between_nodes : task_.cluster.within_node;
    return link.alpha + bytes * link.beta;
  }

  // ---- One layer, one micro-batch --------------------------------------------------------------

  double of_products(double operations) const {
    return operations / to_double(layout_.tensor) / (task_.gpu.peak * task_.gpu.share_of_products);
  }

  double attention_seconds() const {
    const Operations once = operations_per_token(task_.model, task_.sequence);
    return share_.tokens * once.of_attention / to_double(layout_.tensor) /
           (task_.gpu.peak * task_.gpu.share_of_attention);
  }

  double layer_seconds(bool backward) const {
    const Operations once = operations_per_token(task_.model, task_.sequence);
    return (backward ? 2 : 1) * of_products(share_.tokens * once.of_products) +
           (backward ? kAttentionBackward : 1) * attention_seconds() +
           (backward ? kBackwardAccesses : kForwardAccesses) * share_.saved / task_.gpu.bandwidth;
  }

  double output_seconds(bool backward) const {
    const Operations once = operations_per_token(task_.model, task_.sequence);
    return (backward ? 2 : 1) * of_products(share_.tokens * once.of_output);
  }

  /// Two all-gathers and two reduce-scatters.
  double tensor_seconds() const {
    return 2 * (gather(tensor(), share_.hidden) + scatter(tensor(), share_.hidden));
  }

  /// What keys and values of the next rank take longer than the attention to those that are here.
  double context_seconds(bool backward) const {
    if (layout_.context == 1) return 0;
    const double bytes = (backward ? 2 : 1) * share_.keys_and_values;
    const double step =
        (backward ? kAttentionBackward : 1) * attention_seconds() / to_double(layout_.context);
    const double sent = message(layout_.tensor * layout_.context, bytes);
    return to_double(layout_.context - 1) * std::max(0.0, sent - step);
  }

  /// Dispatch and combine.
  double expert_seconds() const { return 2 * collective(kAllToAll, expert(), share_.routed); }

  /// How often forward runs in a step.
  double forwards() const { return forwards_of(layout_); }

  // ---- Sharded state ---------------------------------------------------------------------------

  double gather_layer() const {
    return gather(shard_group(), kWeightBytes * share_.dense) +
           gather(shard_group_of_experts(), kWeightBytes * share_.experts);
  }
  double scatter_layer() const {
    return scatter(shard_group(), kGradientBytes * share_.dense) +
           scatter(shard_group_of_experts(), kGradientBytes * share_.experts);
  }
  double reduce_layer() const {
    return collective(kAllReduce, replicas(), kGradientBytes * share_.dense) +
           collective(kAllReduce, shard_group_of_experts(), kGradientBytes * share_.experts);
  }

  double data_seconds(double forward, double backward) const {
    return shards_weights(layout_) ? exposed_shards(forward, backward)
                                   : exposed_gradients(backward);
  }

  /// FSDP and HSDP: what gathers and scatters take beyond the passes that they overlap with.
  double exposed_shards(double forward, double backward) const {
    const auto m = to_double(layout_.micro_batches);
    const double gathered = gather_layer();
    const double one_pass = prefetched_forward(share_.layers, forward, gathered) +
                            prefetched_backward(share_.layers, backward, gathered, scatter_layer());
    const double shard =
        kGradientBytes * (share_.dense + share_.experts) / to_double(layout_.shard);
    const double between = collective(kAllReduce, replica_group(), shard);
    // Embeddings are gathered before the first layer, and scattered after it.
    const double embeddings = gather(shard_group(), kWeightBytes * share_.embeddings) +
                              scatter(shard_group(), kGradientBytes * share_.embeddings);
    return m * (one_pass - layers() * (forward + backward) + embeddings) +
           beyond_backward(backward, between) +
           collective(kAllReduce, replica_group(),
                      kGradientBytes * share_.embeddings / to_double(layout_.shard));
  }

  /// DDP, ZeRO-1 and ZeRO-2: gradients beyond the backward pass, and weights after the step.
  double exposed_gradients(double backward) const {
    const double embeddings = kGradientBytes * share_.embeddings;
    if (layout_.sharding == Sharding::kNone) {
      return beyond_backward(backward, reduce_layer()) +
             collective(kAllReduce, replicas(), embeddings);
    }
    const double passes =
        layout_.sharding == Sharding::kZero2 ? to_double(layout_.micro_batches) : 1;
    return passes * beyond_backward(backward, scatter_layer()) + scatter(replicas(), embeddings) +
           gather(shard_group(), kWeightBytes * share_.without_experts()) +
           gather(shard_group_of_experts(), kWeightBytes * share_.of_experts());
  }

  /// What the layers' collectives take beyond the backward pass under which they start.
  double beyond_backward(double backward, double each) const {
    return overlapped_seconds(share_.layers, backward, each) - layers() * backward;
  }

  const Task& task_;
  const Layout& layout_;
  const Share& share_;
};

}  // namespace

Seconds seconds_of(const Task& task, const Layout& layout, const Share& share,
                   double optimizer_bytes) {
  return StepTime(task, layout, share).seconds(optimizer_bytes);
}

}  // namespace rankbox::plan
