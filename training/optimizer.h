// Optimizers: from gradients to new values.
//
//   Sgd optimizer(model.parameters(), {.learning_rate = 0.1});
//   optimizer.step();
//
// The arithmetic is in plain functions on slices (sgd_step, adam_step), element by element: a rank
// that owns only a piece of the parameters (zero1) calls them on that piece.
#pragma once

#include <vector>

#include "training/parameter.h"

namespace rankbox {

template <class T>
class OptimizerOf {
 public:
  OptimizerOf() = default;
  OptimizerOf(const OptimizerOf&) = delete;  // pointers refer to its state
  OptimizerOf& operator=(const OptimizerOf&) = delete;
  virtual ~OptimizerOf() = default;

  /// Updates all parameters; those whose gradient is empty stay as they are.
  virtual void step() = 0;
  /// What a checkpoint must hold besides the parameters. The pointers are valid as long as the
  /// optimizer.
  virtual std::vector<NamedTensorOf<T>*> state() = 0;
};
using Optimizer = OptimizerOf<float>;

}  // namespace rankbox
