// Three layers of which the first is cut by columns and the last by rows: what the blocks of a
// transformer have in common, and so the mistakes.
#pragma once

#include <functional>
#include <optional>

#include "training/layer.h"
#include "verdict/tensor_parallel/whole_and_parts.h"

namespace rankbox {

/// How far a block's numbers, up to about 30, may be from the whole layer's: sums have another order.
inline constexpr float kBlockBound = 1e-4f;

/// One after the other. REQUIRES: they live longer.
class Chain : public Layer {
 public:
  Chain(Layer& first, Layer& middle, Layer& last) : layers_{&first, &middle, &last} {}

  Tensor forward(Tensor x, Saved& saved) override {
    for (Layer* const layer : layers_) x = layer->forward(std::move(x), saved);
    return x;
  }
  Tensor backward(Tensor dy, Saved& saved) override {
    for (int i = 2; i >= 0; --i) dy = layers_[i]->backward(std::move(dy), saved);
    return dy;
  }

 private:
  Layer* layers_[3];
};

/// What a block should have made, and what goes into wrong ones.
struct BlockCheck {
  Passes whole;  // on one rank
  Passes own;    // what this rank's parts of the layers give: y without the bias
  Tensor bias;   // of the last layer
  int world_size = 1;
  /// Which part of them this rank should have: all, or some rows.
  std::function<Tensor(const Tensor&)> part = [](const Tensor& all) { return all; };
};

/// y and dx.
std::optional<Difference> compare_block(const Passes& actual, const BlockCheck& check);

}  // namespace rankbox
