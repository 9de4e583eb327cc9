#include "training/run/strategies/tensor_parts.h"

#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "parallel/layer_shards.h"
#include "parallel/parallel_attention.h"
#include "parallel/parallel_mlp.h"
#include "training/layers/attention.h"
#include "training/layers/gelu.h"
#include "training/layers/relu.h"
#include "training/layers/residual.h"
#include "training/run/strategies/measured_layer.h"

namespace rankbox::train {
namespace {

/// A whole layer that another object owns.
class Borrowed : public Layer {
 public:
  explicit Borrowed(Layer& layer) : layer_(layer) {}

  Tensor forward(Tensor x, Saved& saved) override { return layer_.forward(std::move(x), saved); }
  Tensor backward(Tensor dy, Saved& saved) override {
    return layer_.backward(std::move(dy), saved);
  }
  void omit_input_gradient() override { layer_.omit_input_gradient(); }

 private:
  Layer& layer_;
};

/// A linear layer that starts or stops its block's stopwatch. Between the first and the last layer
/// of a block no rank waits for another, so this time is the computing time of all three layers.
class TimedLinear : public Linear {
 public:
  TimedLinear(Tensor weights, Tensor biases, Comm& dist, std::optional<ComputeTime>& time)
      : Linear(std::move(weights), std::move(biases)), dist_(dist), time_(time) {}

  Tensor forward(Tensor x, Saved& saved) override {
    start();
    Tensor y = Linear::forward(std::move(x), saved);
    return stop(std::move(y));
  }
  Tensor backward(Tensor dy, Saved& saved) override {
    start();
    Tensor dx = Linear::backward(std::move(dy), saved);
    return stop(std::move(dx));
  }

 private:
  void start() {
    is_first_ = !time_.has_value();
    if (is_first_) time_.emplace(dist_);
  }
  Tensor stop(Tensor result) {
    if (is_first_) return result;
    time_->stop();
    time_.reset();
    return result;
  }

  Comm& dist_;
  std::optional<ComputeTime>& time_;
  bool is_first_ = false;
};

/// Two linear layers with an activation or attention between, as parallel_mlp or parallel_attention
/// computes them.
class Block : public Layer {
 public:
  /// @param middle an activation; null: attention with `heads` heads of all ranks together
  Block(Comm& dist, int rank, int world_size, Linear& first, std::unique_ptr<Layer> middle,
        std::int64_t heads, Linear& last)
      : dist_(dist),
        first_(row_part(first.weight.value, rank, world_size),
               row_part(first.bias.value, rank, world_size), dist, time_),
        middle_(std::move(middle)),
        heads_(heads),
        last_(column_part(last.weight.value, rank, world_size), Tensor(), dist, time_),
        bias_(std::move(last.bias)) {
    first_.weight.name = first.weight.name;
    first_.bias.name = first.bias.name;
    last_.weight.name = last.weight.name;
    for (Parameter* cut_up : {&first.weight, &first.bias, &last.weight}) cut_up->value = {};
  }

  Tensor forward(Tensor x, Saved& saved) override {
    pass(Direction::kForward, x, saved);
    return x;
  }
  Tensor backward(Tensor dy, Saved& saved) override {
    pass(Direction::kBackward, dy, saved);
    return dy;
  }
  void omit_input_gradient() override { first_.omit_input_gradient(); }

  std::vector<ShardedParameter> shards() {
    return {{&first_.weight, Cut::kRows},
            {&first_.bias, Cut::kRows},
            {&last_.weight, Cut::kColumns},
            {&bias_, Cut::kNone}};
  }

 private:
  void pass(Direction direction, Tensor& tensor, Saved& saved) {
    if (middle_ == nullptr) {
      ParallelAttention shard{first_, last_, bias_, heads_};
      parallel_attention(dist_, shard, direction, tensor, saved);
    } else {
      ParallelMlp shard{first_, *middle_, last_, bias_};
      parallel_mlp(dist_, shard, direction, tensor, saved);
    }
  }

  Comm& dist_;
  std::optional<ComputeTime> time_;  // while the block computes
  TimedLinear first_;
  std::unique_ptr<Layer> middle_;
  std::int64_t heads_;
  TimedLinear last_;
  Parameter bias_;
};

void check_divides(int ranks, std::int64_t pieces, const std::string& what) {
  if (pieces % ranks == 0) return;
  throw InvalidArgument(fmt::format(
      "--ranks {}: tensor shards {} {} equally over the ranks; give a number that divides {}",
      ranks, pieces, what, pieces));
}

/// Returns an activation like this one; null for any other layer.
std::unique_ptr<Layer> activation_like(const Layer& layer) {
  if (dynamic_cast<const Relu*>(&layer) != nullptr) return std::make_unique<Relu>();
  if (dynamic_cast<const Gelu*>(&layer) != nullptr) return std::make_unique<Gelu>();
  return nullptr;
}

}  // namespace

TensorParts::TensorParts(Comm& dist, const Model& recipes, const std::string& model_name)
    : dist_(dist), whole_(recipes) {
  parts_.add("parts", cut(whole_));
  parts_.omit_input_gradient();
  if (has_blocks_ || dist_.world_size() == 1) return;
  throw InvalidArgument(fmt::format(
      "--model {}: has no two linear layers with only an activation or attention between, which "
      "tensor shards; choose --strategy ddp, or --model mlp or transformer",
      model_name));
}

std::unique_ptr<Sequential> TensorParts::cut(Sequential& layers) {
  auto parts = std::make_unique<Sequential>();
  for (std::int64_t i = 0; i < layers.size(); ++i) {
    if (auto block = block_at(layers, i)) {
      parts->add(layers.name(i), std::move(block));
      i += 2;
    } else {
      parts->add(layers.name(i), cut(layers.layer(i), layers.name(i)));
    }
  }
  return parts;
}

std::unique_ptr<Layer> TensorParts::cut(Layer& layer, const std::string& name) {
  if (auto* const layers = dynamic_cast<Sequential*>(&layer)) return cut(*layers);
  if (auto* const residual = dynamic_cast<Residual*>(&layer))
    return std::make_unique<Residual>(cut(residual->inner(), name));
  for (Parameter* parameter : layer.parameters()) parameters_.push_back({parameter, Cut::kNone});
  return std::make_unique<MeasuredLayer>(std::make_unique<Borrowed>(layer), dist_);
}

std::unique_ptr<Layer> TensorParts::block_at(Sequential& layers, std::int64_t i) {
  const int r = dist_.rank(), p = dist_.world_size();
  if (p == 1 || i + 2 >= layers.size()) return nullptr;
  auto* const first = dynamic_cast<Linear*>(&layers.layer(i));
  auto* const last = dynamic_cast<Linear*>(&layers.layer(i + 2));
  if (first == nullptr || last == nullptr) return nullptr;
  std::unique_ptr<Layer> activation = activation_like(layers.layer(i + 1));
  const auto* const attention = dynamic_cast<Attention*>(&layers.layer(i + 1));
  if (activation == nullptr && attention == nullptr) return nullptr;
  const std::int64_t heads = attention == nullptr ? 0 : attention->heads();
  check_divides(p, heads, "heads");
  check_divides(p, first->bias.value.size(), "columns of " + layers.name(i));

  auto block = std::make_unique<Block>(dist_, r, p, *first, std::move(activation), heads, *last);
  for (const ShardedParameter& each : block->shards()) parameters_.push_back(each);
  has_blocks_ = true;
  return block;
}

}  // namespace rankbox::train
