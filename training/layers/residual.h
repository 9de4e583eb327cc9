// y = x + inner(x); dx = dy + inner's dx: the inner layer learns what to add (He et al. 2015).
// REQUIRES: an inner layer whose output has the shape of its input.
#pragma once

#include <memory>

#include "training/layer.h"

namespace rankbox {

template <class T>
class ResidualOf : public LayerOf<T> {
 public:
  explicit ResidualOf(std::unique_ptr<LayerOf<T>> inner) : inner_(std::move(inner)) {}

  LayerOf<T>& inner() { return *inner_; }

  TensorOf<T> forward(TensorOf<T> x, SavedOf<T>& saved) override;
  TensorOf<T> backward(TensorOf<T> dy, SavedOf<T>& saved) override;
  std::vector<ParameterOf<T>*> parameters() override { return inner_->parameters(); }
  std::vector<NamedTensorOf<T>*> statistics() override { return inner_->statistics(); }

 private:
  std::unique_ptr<LayerOf<T>> inner_;
};
using Residual = ResidualOf<float>;

}  // namespace rankbox
