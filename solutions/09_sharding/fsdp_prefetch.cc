#include "parallel/fsdp_prefetch.h"

#include <utility>

namespace rankbox {

namespace {

/// The weights of one pass at a time, gathered one pass ahead.
class Weights {
 public:
  Weights(Comm& dist, Sequential& model, const std::vector<Shard>& shards)
      : dist_(dist), model_(model), shards_(shards) {
    for (std::size_t i = 0; i < shards.size(); ++i) {
      if (!shards[i].shapes.empty()) passes_.push_back(i);
    }
    const std::vector<std::size_t> forward = passes_;
    passes_.insert(passes_.end(), forward.rbegin(), forward.rend());
    if (!passes_.empty()) start_gather();
  }

  /// Call it before each pass: the layer becomes whole, and the next one starts to travel.
  void begin_pass(std::size_t layer) {
    if (shards_[layer].shapes.empty()) return;
    if (is_in_flight_) finish_gather();
    ++next_;
    if (next_ < passes_.size() && passes_[next_] != layer) start_gather();
  }

  /// Call it after each pass: drops the weights, unless the next pass needs the same.
  void end_pass(std::size_t layer) {
    if (next_ < passes_.size() && passes_[next_] == layer) return;
    drop_values(parameters_of(layer));
  }

 private:
  std::vector<Parameter*> parameters_of(std::size_t layer) {
    return model_.layer(static_cast<std::int64_t>(layer)).parameters();
  }

  void start_gather() {
    const Shard& shard = shards_[passes_[next_]];
    flat_ = flat_for(shard, dist_.world_size());
    request_ = dist_.all_gather_async(shard.mine.value, flat_);
    is_in_flight_ = true;
  }

  void finish_gather() {
    dist_.wait(request_);
    unpack_values(flat_, shards_[passes_[next_]], parameters_of(passes_[next_]));
    flat_ = {};
    is_in_flight_ = false;
  }

  Comm& dist_;
  Sequential& model_;
  const std::vector<Shard>& shards_;
  std::vector<std::size_t> passes_;  // their layers: those with weights, forward and back
  std::size_t next_ = 0;             // pass
  Tensor flat_;                      // in flight
  Request request_;
  bool is_in_flight_ = false;
};

/// Gradients on their way to their owners.
struct Sent {
  Tensor flat;
  Request request;
};

/// Sends the mean of the layer's gradients, once those sent before have arrived.
void scatter_gradients(Comm& dist, Shard& shard, const std::vector<Parameter*>& parameters,
                       Sent& sent) {
  if (parameters.empty()) return;
  dist.wait(sent.request);
  sent.flat = {};
  sent.flat = flat_for(shard, dist.world_size());
  pack_gradients(parameters, shard, sent.flat);
  drop_gradients(parameters);
  sent.request = dist.reduce_scatter_async(sent.flat, gradient_of(shard.mine), ReduceOp::AVG);
}

}  // namespace

void fsdp_prefetch(Comm& dist, Sequential& model, const Batch& batch, Saved& saved,
                   std::vector<Shard>& shards, Loss& loss, Optimizer& optimizer) {
  Weights weights(dist, model, shards);

  // 1. Forward.
  Tensor y = clone(batch.x);
  for (std::size_t i = 0; i < shards.size(); ++i) {
    weights.begin_pass(i);
    y = model.layer(static_cast<std::int64_t>(i)).forward(std::move(y), saved);
    weights.end_pass(i);
  }
  loss = cross_entropy(y, batch.labels);
  Tensor dy = std::exchange(loss.gradient, {});

  // 2. Backward: gradients leave while the layer before computes its own.
  Sent sent;
  for (std::size_t i = shards.size(); i-- > 0;) {
    Layer& layer = model.layer(static_cast<std::int64_t>(i));
    weights.begin_pass(i);
    dy = layer.backward(std::move(dy), saved);
    weights.end_pass(i);
    scatter_gradients(dist, shards[i], layer.parameters(), sent);
  }

  // 3. The step needs the gradients that were sent last, too.
  dist.wait(sent.request);
  optimizer.step();
}

}  // namespace rankbox
