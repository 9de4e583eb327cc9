// A layer that calls a function before each pass: to look at memory, or to spend virtual time.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "training/layer.h"

namespace rankbox {

/// Called with the layer that is about to work: the WatchedLayer itself.
using OnPass = std::function<void(const Layer& layer, bool is_backward)>;

class WatchedLayer : public Layer {
 public:
  WatchedLayer(std::unique_ptr<Layer> layer, OnPass on_pass)
      : layer_(std::move(layer)), on_pass_(std::move(on_pass)) {}

  Tensor forward(Tensor x, Saved& saved) override {
    on_pass_(*this, false);
    return layer_->forward(std::move(x), saved);
  }
  Tensor backward(Tensor dy, Saved& saved) override {
    on_pass_(*this, true);
    return layer_->backward(std::move(dy), saved);
  }
  std::vector<Parameter*> parameters() override { return layer_->parameters(); }
  std::vector<NamedTensor*> statistics() override { return layer_->statistics(); }
  void omit_input_gradient() override { layer_->omit_input_gradient(); }

 private:
  std::unique_ptr<Layer> layer_;
  OnPass on_pass_;
};

}  // namespace rankbox
