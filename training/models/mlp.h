// The multi-layer perceptron for digits: 784 → hidden → … → 10, ReLU between.
//
//   x [batch, 28, 28, 1] → logits [batch, 10]
//
// Layers: fc1, relu1, fc2, relu2, fc3.
#pragma once

#include "training/sequential.h"

namespace rankbox {

struct MlpOptions {
  std::int64_t inputs = 28 * 28;
  std::vector<std::int64_t> hidden = {512, 256};
  std::int64_t classes = 10;
  std::uint64_t seed = 1;
};

template <class T = float>
ModelOf<T> mlp(const MlpOptions& options = {});

}  // namespace rankbox
