// The interface of layers.
//
//   Saved saved;
//   Tensor y = layer.forward(std::move(x), saved);     // takes x: move it, or it is copied
//   Tensor dx = layer.backward(std::move(dy), saved);  // adds to the gradients of the parameters
//
// Sample i of a batch is x[i, …]. dy is the derivative of the loss by y, and dx that by x.
//
// A layer holds parameters (and running statistics), and no data of a batch: see training/saved.h.
// Element types are float and, to check gradients against finite differences, double.
//
// Thread safety: one thread at a time per layer; different layers are independent.
// Errors: InvalidArgument for an input of a shape that the layer does not take.
#pragma once

#include <vector>

#include "training/parameter.h"
#include "training/saved.h"

namespace rankbox {

template <class T>
class LayerOf {
 public:
  using Element = T;

  LayerOf() = default;
  LayerOf(const LayerOf&) = delete;  // pointers refer to its parameters
  LayerOf& operator=(const LayerOf&) = delete;
  virtual ~LayerOf() = default;

  virtual TensorOf<T> forward(TensorOf<T> x, SavedOf<T>& saved) = 0;
  virtual TensorOf<T> backward(TensorOf<T> dy, SavedOf<T>& saved) = 0;

  /// What the optimizer changes. The pointers are valid as long as the layer.
  virtual std::vector<ParameterOf<T>*> parameters() { return {}; }
  /// What else a checkpoint must hold: running statistics.
  virtual std::vector<NamedTensorOf<T>*> statistics() { return {}; }

  /// For the first layer of a model, whose dx is not needed: backward may return an empty tensor
  /// instead, which saves time.
  virtual void omit_input_gradient() { wants_dx_ = false; }

 protected:
  bool wants_dx() const { return wants_dx_; }

 private:
  bool wants_dx_ = true;
};
using Layer = LayerOf<float>;

}  // namespace rankbox
