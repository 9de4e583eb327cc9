// A layer that charges its time to the virtual clock.
#pragma once

#include <memory>
#include <utility>

#include "training/run/strategies/compute_time.h"
#include "training/sequential.h"

namespace rankbox::train {

class MeasuredLayer : public Layer {
 public:
  MeasuredLayer(std::unique_ptr<Layer> layer, Comm& dist) : layer_(std::move(layer)), dist_(dist) {}

  Tensor forward(Tensor x, Saved& saved) override {
    ComputeTime time(dist_);
    Tensor y = layer_->forward(std::move(x), saved);
    time.stop();
    return y;
  }
  Tensor backward(Tensor dy, Saved& saved) override {
    ComputeTime time(dist_);
    Tensor dx = layer_->backward(std::move(dy), saved);
    time.stop();
    return dx;
  }
  std::vector<Parameter*> parameters() override { return layer_->parameters(); }
  std::vector<NamedTensor*> statistics() override { return layer_->statistics(); }
  void omit_input_gradient() override { layer_->omit_input_gradient(); }

 private:
  std::unique_ptr<Layer> layer_;
  Comm& dist_;
};

/// Returns the same model with every layer measured. REQUIRES: dist outlives it.
inline Model measured(const Model& recipes, Comm& dist) {
  Model all;
  for (const auto& recipe : recipes) {
    const auto make = [&dist, make = recipe.make]() -> std::unique_ptr<Layer> {
      return std::make_unique<MeasuredLayer>(make(), dist);
    };
    all.push_back({recipe.name, make});
  }
  return all;
}

}  // namespace rankbox::train
