// A layer whose backward takes virtual time, as if it ran on a machine of its own.
#pragma once

#include <memory>
#include <utility>

#include "comm/comm.h"
#include "training/layer.h"

namespace rankbox {

class TimedLayer : public Layer {
 public:
  TimedLayer(std::unique_ptr<Layer> layer, Comm& dist, double backward_seconds)
      : layer_(std::move(layer)), dist_(dist), backward_seconds_(backward_seconds) {}

  Tensor forward(Tensor x, Saved& saved) override { return layer_->forward(std::move(x), saved); }
  Tensor backward(Tensor dy, Saved& saved) override {
    dist_.compute(backward_seconds_);
    return layer_->backward(std::move(dy), saved);
  }
  std::vector<Parameter*> parameters() override { return layer_->parameters(); }
  std::vector<NamedTensor*> statistics() override { return layer_->statistics(); }
  void omit_input_gradient() override { layer_->omit_input_gradient(); }

 private:
  std::unique_ptr<Layer> layer_;
  Comm& dist_;
  const double backward_seconds_;
};

}  // namespace rankbox
