#include "cli/train/tensor_parts.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "cli/train/measured_layer.h"
#include "parallel/conjugate_f.h"
#include "parallel/conjugate_g.h"
#include "parallel/layer_shards.h"
#include "training/layers/attention.h"
#include "training/layers/gelu.h"
#include "training/layers/relu.h"
#include "training/layers/residual.h"

namespace rankbox::train {
namespace {

/// A whole layer, which belongs to somebody else.
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

/// What parallel_mlp and parallel_attention do, with anything in the middle, and timed.
class Block : public Layer {
 public:
  Block(Comm& dist, std::unique_ptr<Linear> columns, std::unique_ptr<Layer> middle,
        std::unique_ptr<Linear> rows, Parameter bias)
      : dist_(dist), bias_(std::move(bias)) {
    parameters_ = {{&columns->weight, Cut::kRows},
                   {&columns->bias, Cut::kRows},
                   {&rows->weight, Cut::kColumns},
                   {&bias_, Cut::kNone}};
    layers_.push_back(std::make_unique<MeasuredLayer>(std::move(columns), dist));
    layers_.push_back(std::make_unique<MeasuredLayer>(std::move(middle), dist));
    layers_.push_back(std::make_unique<MeasuredLayer>(std::move(rows), dist));
  }

  Tensor forward(Tensor x, Saved& saved) override {
    conjugate_f(dist_, Direction::kForward, x);
    for (const auto& layer : layers_) x = layer->forward(std::move(x), saved);
    conjugate_g(dist_, Direction::kForward, x);
    const std::int64_t width = bias_.value.size();
    for (std::int64_t i = 0; i < x.size(); ++i) x.data()[i] += bias_.value.data()[i % width];
    return x;
  }

  Tensor backward(Tensor dy, Saved& saved) override {
    float* const gradient = gradient_of(bias_).data();
    const std::int64_t width = bias_.value.size();
    for (std::int64_t i = 0; i < dy.size(); ++i) gradient[i % width] += dy.data()[i];
    conjugate_g(dist_, Direction::kBackward, dy);
    for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer)
      dy = (*layer)->backward(std::move(dy), saved);
    if (wants_dx()) conjugate_f(dist_, Direction::kBackward, dy);
    return dy;
  }

  void omit_input_gradient() override {
    Layer::omit_input_gradient();
    layers_.front()->omit_input_gradient();
  }

  const std::vector<DealtParameter>& dealt() const { return parameters_; }

 private:
  Comm& dist_;
  Parameter bias_;
  std::vector<DealtParameter> parameters_;
  std::vector<std::unique_ptr<Layer>> layers_;
};

void check_divides(int ranks, std::int64_t pieces, const std::string& what) {
  if (pieces % ranks == 0) return;
  throw InvalidArgument(fmt::format(
      "--ranks {}: tensor deals out {} {} to the ranks, equally; give a number that divides {}",
      ranks, pieces, what, pieces));
}

/// The layer between two linear ones, for this rank's columns of what the first leaves; null for one
/// that needs all of them.
std::unique_ptr<Layer> middle_part(Layer& middle, int ranks) {
  if (dynamic_cast<Relu*>(&middle) != nullptr) return std::make_unique<Relu>();
  if (dynamic_cast<Gelu*>(&middle) != nullptr) return std::make_unique<Gelu>();
  if (const auto* attention = dynamic_cast<Attention*>(&middle)) {
    check_divides(ranks, attention->heads(), "heads");
    return std::make_unique<Attention>(attention->heads() / ranks);
  }
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
      "tensor deals out; choose --strategy ddp, or --model mlp or transformer",
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
  std::unique_ptr<Layer> middle = middle_part(layers.layer(i + 1), p);
  if (middle == nullptr) return nullptr;
  check_divides(p, first->bias.value.size(), "columns of " + layers.name(i));

  auto columns = std::make_unique<Linear>(row_part(first->weight.value, r, p),
                                          row_part(first->bias.value, r, p));
  auto rows = std::make_unique<Linear>(column_part(last->weight.value, r, p), Tensor());
  columns->weight.name = first->weight.name;
  columns->bias.name = first->bias.name;
  rows->weight.name = last->weight.name;
  auto block = std::make_unique<Block>(dist_, std::move(columns), std::move(middle),
                                       std::move(rows), std::move(last->bias));
  for (Parameter* cut_up : {&first->weight, &first->bias, &last->weight}) cut_up->value = {};
  parameters_.insert(parameters_.end(), block->dealt().begin(), block->dealt().end());
  has_blocks_ = true;
  return block;
}

}  // namespace rankbox::train
