// What every layer can do.
//
//   Saved saved;
//   Tensor y = layer.forward(std::move(x), saved);     // takes x: move it, or it is copied
//   Tensor dx = layer.backward(std::move(dy), saved);  // adds to the gradients of the parameters
//
// Sample i of a batch is x[i, …]. dy is the derivative of the loss by y, and dx that by x.
//
// A layer holds parameters (and running statistics) and nothing of a batch: see training/saved.h.
// Element types are float and, to check gradients against finite differences, double.
//
// Thread safety: one thread at a time; layers of their own never disturb each other.
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
  LayerOf(const LayerOf&) = delete;  // parameters are pointed at
  LayerOf& operator=(const LayerOf&) = delete;
  virtual ~LayerOf() = default;

  virtual TensorOf<T> forward(TensorOf<T> x, SavedOf<T>& saved) = 0;
  virtual TensorOf<T> backward(TensorOf<T> dy, SavedOf<T>& saved) = 0;

  /// What the optimizer changes. The pointers hold as long as the layer.
  virtual std::vector<ParameterOf<T>*> parameters() { return {}; }
  /// What else a checkpoint must hold: running statistics.
  virtual std::vector<NamedTensorOf<T>*> statistics() { return {}; }

  /// For the first layer of a model: nobody wants its dx. backward may return an empty tensor
  /// instead, and save the time.
  virtual void omit_input_gradient() { wants_dx_ = false; }

 protected:
  bool wants_dx() const { return wants_dx_; }

 private:
  bool wants_dx_ = true;
};
using Layer = LayerOf<float>;

}  // namespace rankbox
