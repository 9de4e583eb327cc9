#include "cli/plan/estimate.h"

#include <algorithm>

#include "sim/clock/native_cost.h"

namespace rankbox::plan {

namespace {

using enum CollectiveKind;

constexpr double kWeightBytes = 2, kGradientBytes = 2, kOptimizerBytes = 12;
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

/// Prices the step of one layout.
class Pricer {
 public:
  Pricer(const Task& task, const Layout& layout)
      : task_(task),
        layout_(layout),
        tokens_(static_cast<double>(layout.micro_batch * task.sequence) /
                to_double(layout.context)),
        layers_(std::max<std::int64_t>(
            1, (task.model.layers + layout.pipeline - 1) / layout.pipeline)) {
    const ParameterCount count = count_parameters(task.model);
    const auto t = to_double(layout.tensor);
    dense_ = static_cast<double>(count.dense) / t;
    experts_ = static_cast<double>(task.model.copies_of_experts() * count.expert) / t /
               to_double(layout.expert);
    embeddings_ = static_cast<double>(count.embeddings) / t;
    if (layout.pipeline > 1 && !task.model.is_tied) embeddings_ /= 2;
    parameters_ = embeddings_ + to_double(layers_) * (dense_ + experts_);
  }

  Estimate price() const {
    Estimate estimate;
    estimate.layout = layout_;
    estimate.memory = memory();
    estimate.traffic = traffic();
    estimate.seconds = seconds();
    estimate.fits = estimate.memory.all() <= kUsableMemory * task_.gpu.memory;
    const double tokens = to_double(task_.batch * task_.sequence);
    estimate.tokens_per_gpu = tokens / estimate.seconds.all() / to_double(layout_.gpus());
    estimate.mfu = estimate.tokens_per_gpu *
                   model_operations_per_token(task_.model, task_.sequence) / task_.gpu.peak;
    return estimate;
  }

 private:
  static double to_double(std::int64_t number) { return static_cast<double>(number); }

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

  /// Bytes of a token's activations that sequence parallelism leaves on this rank.
  double hidden_bytes() const { return 2 * tokens_ * to_double(task_.model.hidden); }

  double of_products(double operations) const {
    return operations / to_double(layout_.tensor) / (task_.gpu.peak * task_.gpu.share_of_products);
  }

  double saved_bytes() const {
    return tokens_ * static_cast<double>(saved_bytes_per_token(task_.model)) /
           to_double(layout_.tensor);
  }

  double attention_seconds() const {
    const Operations once = operations_per_token(task_.model, task_.sequence);
    return tokens_ * once.of_attention / to_double(layout_.tensor) /
           (task_.gpu.peak * task_.gpu.share_of_attention);
  }

  double layer_seconds(bool backward) const {
    const Operations once = operations_per_token(task_.model, task_.sequence);
    return (backward ? 2 : 1) * of_products(tokens_ * once.of_products) +
           (backward ? kAttentionBackward : 1) * attention_seconds() +
           (backward ? kBackwardAccesses : kForwardAccesses) * saved_bytes() / task_.gpu.bandwidth;
  }

  double output_seconds(bool backward) const {
    const Operations once = operations_per_token(task_.model, task_.sequence);
    return (backward ? 2 : 1) * of_products(tokens_ * once.of_output);
  }

  /// Two all-gathers and two reduce-scatters.
  double tensor_seconds() const {
    return 2 * (gather(tensor(), hidden_bytes()) + scatter(tensor(), hidden_bytes()));
  }

  /// What keys and values of the next rank take longer than the attention to those that are here.
  double context_seconds(bool backward) const {
    if (layout_.context == 1) return 0;
    const double bytes = (backward ? 2 : 1) * keys_and_values();
    const double step =
        (backward ? kAttentionBackward : 1) * attention_seconds() / to_double(layout_.context);
    const double sent = message(layout_.tensor * layout_.context, bytes);
    return to_double(layout_.context - 1) * std::max(0.0, sent - step);
  }

  double keys_and_values() const {
    return 2 * 2 * tokens_ * to_double(task_.model.kv_heads * task_.model.head_size()) /
           to_double(layout_.tensor);
  }

  double routed_bytes() const {
    return hidden_bytes() * to_double(task_.model.active) / to_double(layout_.tensor);
  }

  /// Dispatch and combine.
  double expert_seconds() const { return 2 * collective(kAllToAll, expert(), routed_bytes()); }

  /// How often forward runs in a step.
  double forwards() const { return layout_.recomputes ? 2 : 1; }

  // ---- Sharded state ---------------------------------------------------------------------------

  bool shards_weights() const {
    return layout_.sharding == Sharding::kZero3 || layout_.sharding == Sharding::kHybrid;
  }

  double gather_layer() const {
    return gather(shard_group(), kWeightBytes * dense_) +
           gather(shard_group_of_experts(), kWeightBytes * experts_);
  }
  double scatter_layer() const {
    return scatter(shard_group(), kGradientBytes * dense_) +
           scatter(shard_group_of_experts(), kGradientBytes * experts_);
  }
  double reduce_layer() const {
    return collective(kAllReduce, replicas(), kGradientBytes * dense_) +
           collective(kAllReduce, shard_group_of_experts(), kGradientBytes * experts_);
  }

  /// Those of FSDP and HSDP: a pass of each kind, with gathers and scatters under it.
  double whole_passes(double forward, double backward) const {
    const double gathered = gather_layer();
    const double scattered = scatter_layer();
    return prefetched_forward(layers_, forward, gathered) +
           prefetched_backward(layers_, backward, gathered, scattered);
  }

  double data_seconds(double forward, double backward) const {
    const auto m = to_double(layout_.micro_batches);
    const double passes = to_double(layers_) * (forward + backward);
    double exposed = 0;
    if (shards_weights()) {
      exposed = m * (whole_passes(forward, backward) - passes);
      const double shard = kGradientBytes * (dense_ + experts_) / to_double(layout_.shard);
      exposed +=
          overlapped_seconds(layers_, backward, collective(kAllReduce, replica_group(), shard)) -
          to_double(layers_) * backward;
      // Embeddings are gathered before the first layer, and scattered after it.
      exposed += m * (gather(shard_group(), kWeightBytes * embeddings_) +
                      scatter(shard_group(), kGradientBytes * embeddings_)) +
                 collective(kAllReduce, replica_group(),
                            kGradientBytes * embeddings_ / to_double(layout_.shard));
      return exposed;
    }
    const bool reduces = layout_.sharding == Sharding::kNone;
    const double sent = reduces ? reduce_layer() : scatter_layer();
    const double once = overlapped_seconds(layers_, backward, sent) - to_double(layers_) * backward;
    exposed = (layout_.sharding == Sharding::kZero2 ? m : 1) * once;
    exposed += reduces ? collective(kAllReduce, replicas(), kGradientBytes * embeddings_)
                       : scatter(replicas(), kGradientBytes * embeddings_);
    if (!reduces) {
      const double of_experts = to_double(layers_) * experts_;
      exposed += gather(shard_group(), kWeightBytes * (parameters_ - of_experts)) +
                 gather(shard_group_of_experts(), kWeightBytes * of_experts);
    }
    return exposed;
  }

  // ---- The step --------------------------------------------------------------------------------

  Seconds seconds() const {
    Seconds step;
    const auto m = to_double(layout_.micro_batches);
    const auto layers = to_double(layers_);
    const double forward_of_layer = layer_seconds(false);
    const double again = layout_.recomputes ? forward_of_layer : 0;
    const double backward_of_layer = layer_seconds(true) + again;
    // A pipeline waits for its slowest stage, the last, which has the logits.
    const Passes compute = {layers * forward_of_layer + output_seconds(false),
                            layers * backward_of_layer + output_seconds(true), 0};
    step.compute = m * (compute.forward + compute.backward);
    step.tensor = m * layers * (forwards() + 1) * tensor_seconds();
    step.context = m * layers * (forwards() * context_seconds(false) + context_seconds(true));
    step.expert = m * layers * (forwards() + 1) * expert_seconds();
    const double forward =
        forward_of_layer + tensor_seconds() + context_seconds(false) + expert_seconds();
    const double backward = backward_of_layer + forwards() * tensor_seconds() +
                            (forwards() - 1) * context_seconds(false) + context_seconds(true) +
                            forwards() * expert_seconds();
    step.data = data_seconds(forward, backward);
    if (layout_.pipeline > 1) {
      const double one = message(layout_.gpus(), hidden_bytes() / to_double(layout_.tensor));
      step.messages = 2 * (m * to_double(layout_.chunks) + to_double(layout_.pipeline - 1)) * one;
      Passes stage = {layers * forward, layers * backward, 0};
      stage.weights =
          layers * of_products(tokens_ * operations_per_token(task_.model, 1).of_products);
      step.bubble = pipeline_idle(layout_.schedule, layout_.pipeline, layout_.micro_batches,
                                  layout_.chunks, stage);
    }
    step.optimizer = kBytesOfAnUpdate / kOptimizerBytes * state().optimizer / task_.gpu.bandwidth;
    return step;
  }

  State state() const {
    const auto part = [this](std::int64_t ranks, double parameters) {
      return sharded_state(
          layout_.sharding, ranks,
          {kWeightBytes * parameters, kGradientBytes * parameters, kOptimizerBytes * parameters});
    };
    const double of_experts = to_double(layers_) * experts_;
    return part(layout_.shard, parameters_ - of_experts) +
           part(layout_.shard / layout_.expert, of_experts);
  }

  Memory memory() const {
    Memory memory;
    memory.state = state();
    const double of_layer =
        layout_.recomputes ? hidden_bytes() / to_double(layout_.tensor) : saved_bytes();
    const double of_pass = to_double(layers_) * of_layer;
    // Logits and their derivative, in 32 bits.
    const double logits =
        2 * 4 * tokens_ * to_double(task_.model.vocabulary) / to_double(layout_.tensor);
    const std::int64_t p = layout_.pipeline, m = layout_.micro_batches;
    double first = of_pass;  // activations of the first stage, and of the last
    double last = of_pass;
    if (p > 1) {
      first *= micro_batches_in_flight(layout_.schedule, p, m, layout_.chunks);
      last *= micro_batches_on_last(layout_.schedule, p, m, layout_.chunks);
    }
    memory.activations = last + logits > first ? last : first;
    memory.working = last + logits > first ? logits : 0;
    if (layout_.recomputes) memory.working += saved_bytes();
    if (shards_weights()) {  // two layers' weights, one layer's gradients; and the embeddings
      memory.working += (2 * kWeightBytes + kGradientBytes) * (dense_ + experts_) +
                        (kWeightBytes + kGradientBytes) * embeddings_;
    }
    return memory;
  }

  Traffic traffic() const {
    Traffic traffic;
    const auto m = to_double(layout_.micro_batches);
    const auto passes = m * to_double(layers_);
    const auto share = [](std::int64_t ranks) { return to_double(ranks - 1) / to_double(ranks); };
    const auto sharding = [&](std::int64_t copies, double parameters) {
      return bytes_of_sharding(layout_.sharding, layout_.replicas() / copies,
                               layout_.shard / copies, layout_.micro_batches,
                               kWeightBytes * parameters);
    };
    const double of_experts = to_double(layers_) * experts_;
    traffic.data = sharding(1, parameters_ - of_experts) + sharding(layout_.expert, of_experts);
    traffic.tensor = passes * (forwards() + 1) * 4 * share(layout_.tensor) * hidden_bytes();
    traffic.context =
        passes * (forwards() + 2) * to_double(layout_.context - 1) * keys_and_values();
    traffic.expert = passes * (forwards() + 1) * 2 * share(layout_.expert) * routed_bytes();
    if (layout_.pipeline > 1) {
      const std::int64_t sides = layout_.pipeline == 2 && layout_.chunks == 1 ? 1 : 2;
      traffic.pipeline =
          to_double(sides * layout_.chunks) * m * hidden_bytes() / to_double(layout_.tensor);
    }
    return traffic;
  }

  const Task& task_;
  const Layout& layout_;
  double tokens_;        // of a micro-batch, on this rank
  std::int64_t layers_;  // of this rank
  double dense_ = 0, experts_ = 0, embeddings_ = 0, parameters_ = 0;  // of this rank
};

}  // namespace

Estimate estimate(const Task& task, const Layout& layout) { return Pricer(task, layout).price(); }

}  // namespace rankbox::plan
